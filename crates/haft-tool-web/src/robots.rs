//! What the owners of hosts say of programs that read their pages (RFC 9309).

use crate::web_fetch::Getter;
use haft_core::ToolError;
use http::StatusCode;
use robotxt::Robots;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// For how long what a host says is kept; RFC 9309, section 2.4, allows a day.
const KEPT_FOR: Duration = Duration::from_hours(1);

/// The most hosts of which it is kept.
const MOST_HOSTS: usize = 200;

/// The most bytes that are read of it; RFC 9309, section 2.5, asks for no less than this.
const MOST_BYTES: usize = 500 << 10;

/// Knows what hosts say of a program of this name.
#[derive(Debug)]
pub(crate) struct RobotsRules {
    name: String,
    known: Mutex<HashMap<String, (Instant, Arc<Robots>)>>,
}

impl RobotsRules {
    pub(crate) fn new(name: String) -> Self {
        Self { name, known: Mutex::default() }
    }

    /// Refuses what the owner of a host does not want to be read.
    pub(crate) async fn check(&self, getter: &Getter, url: &Url) -> Result<(), ToolError> {
        let origin = url.origin().ascii_serialization();
        let robots = match self.known(&origin) {
            Some(robots) => robots,
            None => self.ask(getter, url, origin).await?,
        };
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        if robots.is_allowed(path) {
            return Ok(());
        }
        Err(ToolError::denied(format!(
            "the `robots.txt` of this host asks programs such as this one not to read `{path}`; go on without it"
        )))
    }

    fn known(&self, origin: &str) -> Option<Arc<Robots>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, robots) = known.get(origin)?;
        (since.elapsed() < KEPT_FOR).then(|| Arc::clone(robots))
    }

    /// Reads it within the origin: what is elsewhere was not declared, and counts as not there.
    async fn ask(&self, getter: &Getter, url: &Url, origin: String) -> Result<Arc<Robots>, ToolError> {
        let mut at = url.clone();
        at.set_path("/robots.txt");
        at.set_query(None);
        // It is read whatever it says of itself, so nothing is asked about it in turn.
        let robots = match Box::pin(getter.get(&at, MOST_BYTES, None)).await {
            Ok(got) if got.status.is_success() => {
                // Half a rule can forbid more than the whole of it.
                let lines = if got.is_cut { got.body.iter().rposition(|byte| *byte == b'\n') } else { None };
                let body = &got.body[..lines.unwrap_or(got.body.len())];
                Robots::parse(body, self.name.as_str())
            }
            Ok(got) if got.status.is_server_error() || got.status == StatusCode::TOO_MANY_REQUESTS => {
                return Err(ToolError::unavailable(format!(
                    "`{origin}` does not say now what programs may read there (its `robots.txt` answers HTTP {}); try again \
                     later, or go on without it",
                    got.status.as_u16()
                )));
            }
            Ok(_) => Robots::allow_all(),
            Err(error) => return Err(error),
        };
        let robots = Arc::new(robots);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_HOSTS {
            let oldest = known.iter().min_by_key(|(_, (since, _))| *since).map(|(origin, _)| origin.clone());
            oldest.map(|oldest| known.remove(&oldest));
        }
        known.insert(origin, (Instant::now(), Arc::clone(&robots)));
        Ok(robots)
    }
}
