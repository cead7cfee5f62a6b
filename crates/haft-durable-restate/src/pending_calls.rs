use crate::Error;
use crate::wire::{RoundEnd, Settled};
use bytes::Bytes;
use haft_core::Digest;
use haft_durable::Waiting;
use haft_http::{Exchange, HttpClient};
use haft_tools_core::{Approval, PendingCall, PendingId};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Is a pending call as an engine keeps it.
///
/// ```no_run
/// # // Not run: it would need an engine.
/// # async fn example(http: haft_http::HttpClient, admin: url::Url) -> Result<(), Box<dyn std::error::Error>> {
/// use haft_durable::CallCourse;
/// use haft_durable_restate::pending_calls;
///
/// for kept in pending_calls(&http, &admin).await? {
///     let (pool, round) = CallCourse::parse_id(&kept.id).ok_or("no engine gave this name")?;
///     match kept.call {
///         Ok(pending) => println!("{pool}: `{}` of {round}", pending.call.name),
///         Err(error) => println!("{pool}: {round} was written by another version: {error}"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct KeptPendingCall {
    /// Names it and the round that waits; [`CallCourse::parse_id`](haft_durable::CallCourse::parse_id) reads it.
    pub id: PendingId,
    /// The digest of what is shown.
    pub digest: Digest,
    /// The call as a person is shown it, or why it cannot be read.
    pub call: Result<Box<PendingCall>, serde_json::Error>,
    /// What was answered, where its worker has not gone on with it yet.
    pub answer: Option<Approval>,
}

/// What waits, with what its rounds came to and what was decided about them.
const QUERY: &str = "SELECT s.service_name, s.service_key, s.value_utf8 AS waiting, p.key, \
                     p.completion_success_value_utf8 AS value FROM state s JOIN sys_promise p ON p.service_name = \
                     s.service_name AND p.service_key = s.service_key WHERE s.key = 'waiting' AND p.completed";

/// The most bytes that an engine may answer with: a few hundred thousand calls that wait.
const MOST_BYTES: u64 = 1 << 30;

/// How long an engine is asked again that cannot tell yet, and how long is waited in between.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    service_name: String,
    service_key: String,
    waiting: Option<String>,
    key: String,
    value: Option<String>,
}

/// Lists the pending calls of all pools, those that were asked first before the others.
///
/// It asks the engine's admin interface, since an engine's ingress answers about one call only. What was answered and not gone
/// on with is listed with its answer. Answer a call with [`RestateExecutor::decide`](crate::RestateExecutor::decide).
///
/// ```no_run
/// # // Not run: it would need an engine.
/// # async fn example(
/// #     http: haft_http::HttpClient,
/// #     executor: haft_durable_restate::RestateExecutor,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// use haft_durable_restate::pending_calls;
/// use haft_tools_core::Approval;
///
/// let waiting = pending_calls(&http, &"http://127.0.0.1:9070".parse()?).await?;
/// for kept in waiting.into_iter().filter(|kept| kept.answer.is_none()) {
///     executor.decide(&*kept.call?, Approval::Approve).await?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When the engine does not answer, or says something that is no list.
///
/// # Cancel safety
///
/// Changes nothing.
pub async fn pending_calls(http: &HttpClient, admin: &Url) -> Result<Vec<KeptPendingCall>, Error> {
    let began = Instant::now();
    loop {
        let (status, body) = asked(http, admin).await?;
        // One that has just started, or has lost a node, does not know yet where everything is.
        if status.is_server_error() && began.elapsed() < PATIENCE {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let unlisted = |said: &str| {
            let said = said.chars().take(1024).collect();
            Error::NotListed { address: admin.to_string(), said }
        };
        if !status.is_success() {
            return Err(unlisted(&String::from_utf8_lossy(&body)));
        }
        let rows: Rows = serde_json::from_slice(&body).map_err(|error| unlisted(&error.to_string()))?;
        return Ok(calls(rows.rows));
    }
}

async fn asked(http: &HttpClient, admin: &Url) -> Result<(http::StatusCode, Bytes), Error> {
    let unreachable = |source| Error::Unreachable { address: admin.to_string(), source };
    let address = format!("{}/query", admin.as_str().trim_end_matches('/'));
    let request = http::Request::post(&address)
        .header(http::header::CONTENT_TYPE, "application/json")
        .header(http::header::ACCEPT, "application/json")
        .body(Bytes::from(json!({ "query": QUERY }).to_string()))
        .map_err(|source| Error::Address { address: admin.to_string(), source: Box::new(source) })?;
    let exchange = Exchange::default().most_bytes(MOST_BYTES);
    let (head, body) = http.send(request, exchange).await.map_err(unreachable)?.into_parts();
    Ok((head.status, body.bytes().await.map_err(unreachable)?))
}

/// Is what is kept of one call: what it waits for, and the promises of its rounds.
struct Kept {
    pool: String,
    key: String,
    waiting: Waiting,
    promises: BTreeMap<String, Option<String>>,
}

/// Puts together what belongs to one call each; what others than workers keep in the engine is passed over.
fn calls(rows: Vec<Row>) -> Vec<KeptPendingCall> {
    let mut found = BTreeMap::<(String, String), Kept>::new();
    for Row { service_name: pool, service_key: key, waiting, key: promise, value } in rows {
        let waiting = waiting.and_then(|text| serde_json::from_str::<Option<Waiting>>(&text).ok()).flatten();
        let Some(waiting) = waiting else { continue };
        let kept = found.entry((pool.clone(), key.clone()));
        let kept = kept.or_insert_with(|| Kept { pool, key, waiting, promises: BTreeMap::new() });
        kept.promises.insert(promise, value);
    }
    let mut calls: Vec<KeptPendingCall> = found.into_values().filter_map(Kept::call).collect();
    calls.sort_by_key(|call| call.call.as_ref().map_or(0, |pending| pending.asked_at_ms));
    calls
}

impl Kept {
    fn call(mut self) -> Option<KeptPendingCall> {
        let round = self.waiting.round;
        let mut promise = |name: &str| self.promises.remove(&format!("{name}/{round}")).flatten();
        // It is said what a round came to before it is waited for.
        let outcome = promise("outcome")?;
        let settled = promise("decision").and_then(|text| serde_json::from_str(&text).ok());
        let answer = match settled {
            None => None,
            Some(Settled::Decided { decision }) => Some(decision.approval),
            // It ends by itself, and nobody is to be asked about it.
            Some(Settled::Expired | Settled::Stopped) => return None,
        };
        let id = PendingId::new(format!("{}/{}:{round}", self.pool, self.key));
        let call = match serde_json::from_str::<RoundEnd>(&outcome) {
            Ok(RoundEnd { pending, .. }) => Ok(Box::new(pending?)),
            Err(error) => Err(error),
        };
        Some(KeptPendingCall { id, digest: self.waiting.digest, call, answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_durable::RoundDecision;
    use serde_json::Value;

    const DIGEST: &str = "shown";

    fn row(key: &str, name: &str, value: &Value) -> Row {
        let waiting = json!({ "round": 1, "digest": Digest::of(&json!(DIGEST)) });
        Row {
            service_name: "tools".to_owned(),
            service_key: key.to_owned(),
            waiting: Some(waiting.to_string()),
            key: name.to_owned(),
            value: Some(value.to_string()),
        }
    }

    fn outcome(id: &str, asked_at_ms: u64) -> Value {
        let digest = Digest::of(&json!(DIGEST));
        json!({ "request": digest, "pending": {
            "version": 1, "id": id, "call": { "id": "c", "name": "pay", "input": {} }, "run": "r", "accesses": [],
            "unmet": [], "preview": { "kind": "arguments" }, "asked_at_ms": asked_at_ms, "digest": digest,
        } })
    }

    fn listed(rows: Vec<Row>) -> Vec<(String, String, Option<Approval>)> {
        let call = |call: KeptPendingCall| {
            let shown = call.call.map_or_else(|error| error.to_string(), |pending| pending.id.to_string());
            (call.id.to_string(), shown, call.answer)
        };
        calls(rows).into_iter().map(call).collect()
    }

    #[test]
    fn each_call_is_listed_once_in_the_round_that_waits() {
        let decision = RoundDecision::new(
            "r/-/b:1".parse().unwrap(),
            Digest::of(&json!(DIGEST)),
            Approval::Approve,
            "d",
        );
        let rows = vec![
            row("r/-/b", "outcome/0", &outcome("tools/r/-/b:0", 1)),
            row("r/-/b", "outcome/1", &outcome("tools/r/-/b:1", 9)),
            row("r/-/b", "decision/1", &json!(Settled::Decided { decision })),
            row("r/-/a", "outcome/1", &outcome("tools/r/-/a:1", 10)),
            row("r/-/gone", "outcome/1", &outcome("tools/r/-/gone:1", 2)),
            row("r/-/gone", "decision/1", &json!(Settled::Stopped)),
        ];
        let shown = |id: &str, answer| (id.to_owned(), id.to_owned(), answer);
        assert_eq!(
            listed(rows),
            [shown("tools/r/-/b:1", Some(Approval::Approve)), shown("tools/r/-/a:1", None)]
        );
    }

    #[test]
    fn what_is_of_others_is_passed_over_and_what_cannot_be_read_is_not() {
        let other = Row { waiting: Some("\"for a train\"".to_owned()), ..row("x", "outcome/1", &json!(1)) };
        let none = Row { waiting: None, ..row("y", "outcome/1", &json!(1)) };
        let mut newer = outcome("tools/r/-/a:1", 1);
        newer["pending"]["version"] = json!(99);
        let listed = listed(vec![other, none, row("r/-/a", "outcome/1", &newer)]);
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].0, "tools/r/-/a:1");
        assert!(listed[0].1.contains("99"), "{}", listed[0].1);
    }
}
