use crate::fixture::{
    Lines, Probe, anything, call, outline, permissive, registry, replies, reply, resume, scope, work, write,
};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolError, ToolOutput};
use haft_tools_core::{
    Approval, Batch, Before, CallContext, DecidedBy, Journal, JournalEntry, JournalRecord, JournalSink,
    Layer, LayerAnswer, LayerCall, Limits, LocalExecutor, LocalExecutorBuilder, MemoryJournal, PendingCall,
    Policy, Rule, Steer, ToolExecutor as _, approver_fn,
};
use serde_json::json;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn kept(builder: LocalExecutorBuilder) -> (LocalExecutor, Arc<MemoryJournal>) {
    let memory = Arc::new(MemoryJournal::default());
    (builder.journal(Journal::new(Arc::clone(&memory) as _)).build(), memory)
}

/// Prints records one on a line: what happened to which call, what it touches and who decided.
fn printed(records: &[Arc<JournalRecord>]) -> String {
    records.iter().map(|record| line(record) + "\n").collect()
}

fn line(record: &JournalRecord) -> String {
    let entry = match &record.entry {
        JournalEntry::Begun => "begun".to_owned(),
        JournalEntry::Waiting => "waiting".to_owned(),
        JournalEntry::Ended { ran, status, bytes_total, bytes_kept, .. } => {
            let ran = if *ran { "ran" } else { "did not run" };
            format!("ended, {ran}: {status}, {bytes_kept} of {bytes_total} bytes")
        }
        other => format!("{other:?}"),
    };
    let decided = match &record.decided {
        DecidedBy::Rule { decision, rules, access } => format!("{decision} by {rules:?} {access:?}"),
        DecidedBy::Person { answer, reason } => format!("{answer:?} {reason}"),
        DecidedBy::Layer { reason } => format!("layer {reason}"),
        DecidedBy::Nobody => "nobody".to_owned(),
        other => format!("{other:?}"),
    };
    let tool = record.tool.as_ref().map_or("-", |tool| tool.as_str());
    let digest = if record.digest.is_some() { "digest" } else { "no digest" };
    format!(
        "{} {} {tool} {entry}; {:?}; {decided}; {digest}",
        record.sequence,
        record.call,
        record.accesses.as_deref()
    )
}

/// Is a tool that writes a file and ends as the input says.
fn ends() -> Probe {
    Probe::new("ends")
        .timeout(Duration::from_secs(1))
        .schema(json!({ "properties": { "ends": { "type": "string" } }, "required": ["ends"] }))
        .declare(|input| match input["ends"].as_str() {
            Some("unprepared") => Err(ToolError::not_found("it is not there")),
            _ => Ok(write("file:a").into()),
        })
        .run(|input, _| async move {
            match input["ends"].as_str().unwrap() {
                "fails" => Err(ToolError::failed("it fails")),
                "panics" => panic!("it breaks"),
                "hangs" => std::future::pending().await,
                "large" => Ok(ToolOutput::text("x".repeat(100_000))),
                _ => Ok("done".into()),
            }
        })
}

#[tokio::test(start_paused = true)]
async fn every_ending_is_recorded() {
    let policy = anything().deny(Rule::tools("secret".parse().unwrap()));
    let (executor, memory) = kept(permissive([ends(), Probe::new("secret")]).policy(policy));
    let inputs = ["well", "fails", "panics", "hangs", "large", "unprepared"];
    let mut calls: Vec<_> = inputs.map(|input| call(input, "ends", json!({ "ends": input }))).to_vec();
    calls.push(call("invalid", "ends", json!({})));
    calls.push(call("unknown", "edns", json!({})));
    calls.push(call("denied", "secret", json!({})));
    calls.push(call("denied", "secret", json!({})));
    // One after the other, so that the order of the records is that of the calls.
    for call in calls {
        replies(&executor, vec![call]).await;
    }
    expect![[r#"
        0 well ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        1 well ends ended, ran: ok, 4 of 4 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        2 fails ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        3 fails ends ended, ran: error: failed, 8 of 8 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        4 panics ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        5 panics ends ended, ran: error: panicked, 86 of 86 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        6 hangs ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        7 hangs ends ended, ran: timed out, 136 of 136 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        8 large ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        9 large ends ended, ran: ok, 2113 of 100000 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        10 unprepared ends ended, did not run: error: not found, 15 of 15 bytes; None; nobody; no digest
        11 invalid ends ended, did not run: error: invalid input, 114 of 114 bytes; None; nobody; no digest
        12 unknown - ended, did not run: error: unknown tool, 45 of 45 bytes; None; nobody; no digest
        13 denied secret ended, did not run: denied, 128 of 128 bytes; Some([]); deny by ["secret"] None; digest
        14 denied secret ended, did not run: denied, 128 of 128 bytes; Some([]); deny by ["secret"] None; digest
    "#]].assert_eq(&printed(&memory.records()));
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_stopped_before_they_start_did_not_run() {
    let (executor, memory) = kept(permissive([ends()]));
    let calls = || ["c1", "c2"].map(|id| call(id, "ends", json!({ "ends": "well" }))).to_vec();
    let token = CancellationToken::new();
    token.cancel();
    executor.execute_batch(Batch::new(scope(), calls()).cancelled_by(token)).await;
    executor
        .execute_batch(Batch::new(scope(), calls()).steered_by(|_: &haft_core::ToolCall| Steer::skip("no")))
        .await;
    let token = CancellationToken::new();
    let cancels = token.clone();
    let cancelling = Probe::new("cancels").run(move |_, _| {
        cancels.cancel();
        std::future::ready(Ok("done".into()))
    });
    expect![[r#"
        0 c1 - ended, did not run: cancelled, 62 of 62 bytes; None; nobody; no digest
        1 c2 - ended, did not run: cancelled, 62 of 62 bytes; None; nobody; no digest
        2 c1 ends ended, did not run: skipped, 11 of 11 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        3 c2 ends ended, did not run: skipped, 11 of 11 bytes; Some(["write file:a"]); allow by ["*"] None; digest
    "#]].assert_eq(&printed(&memory.records()));
    let (executor, memory) = kept(permissive([cancelling, work()]));
    let calls = vec![call("c1", "cancels", json!({})), call("c2", "work", json!({}))];
    executor.execute_batch(Batch::new(scope(), calls).cancelled_by(token)).await;
    expect![[r#"
        0 c1 cancels begun; Some([]); allow by ["*"] None; digest
        1 c1 cancels ended, ran: ok, 4 of 4 bytes; Some([]); allow by ["*"] None; digest
        2 c2 work ended, did not run: cancelled, 62 of 62 bytes; Some([]); allow by ["*"] None; digest
    "#]]
    .assert_eq(&printed(&memory.records()));
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_dropped_is_recorded() {
    let (executor, memory) = kept(permissive([ends()]));
    let calls =
        vec![call("c1", "ends", json!({ "ends": "hangs" })), call("c2", "ends", json!({ "ends": "well" }))];
    let batch = executor.execute_batch(Batch::new(scope(), calls));
    assert!(tokio::time::timeout(Duration::from_millis(1), batch).await.is_err());
    expect![[r#"
        0 c1 ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        1 c1 ends ended, ran: cancelled, 0 of 0 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        2 c2 ends ended, did not run: cancelled, 0 of 0 bytes; Some(["write file:a"]); allow by ["*"] None; digest
    "#]].assert_eq(&printed(&memory.records()));
}

#[tokio::test]
async fn the_word_of_a_person_is_recorded() {
    let check = async |approval: Approval, expect: Expect| {
        let approver = approver_fn(move |_: &PendingCall| approval.clone());
        let (executor, memory) =
            kept(LocalExecutor::builder(registry([ends()])).policy(Policy::new()).approver(approver));
        reply(&executor, "ends", json!({ "ends": "well" })).await;
        expect.assert_eq(&printed(&memory.records()));
    };
    check(
        Approval::Approve,
        expect![[r#"
        0 c1 ends begun; Some(["write file:a"]); Approved ; digest
        1 c1 ends ended, ran: ok, 4 of 4 bytes; Some(["write file:a"]); Approved ; digest
    "#]],
    )
    .await;
    check(Approval::Deny { reason: "not today".to_owned() }, expect![[r#"
        0 c1 ends ended, did not run: denied, 100 of 100 bytes; Some(["write file:a"]); Denied not today; digest
    "#]]).await;
    check(
        Approval::Edit { input: json!({ "ends": "fails" }) },
        expect![[r#"
            0 c1 ends begun; Some(["write file:a"]); ApprovedEdited ; digest
            1 c1 ends ended, ran: error: failed, 134 of 134 bytes; Some(["write file:a"]); ApprovedEdited ; digest
        "#]],
    )
    .await;
    check(Approval::Edit { input: json!({}) }, expect![[r#"
        0 c1 ends ended, did not run: error: invalid input, 226 of 226 bytes; Some(["write file:a"]); ask by [] Some("write file:a"); digest
    "#]]).await;
}

#[tokio::test]
async fn a_call_that_waits_is_recorded_then_and_when_it_goes_on() {
    let approver = approver_fn(|_: &PendingCall| Approval::Later);
    let (executor, memory) =
        kept(LocalExecutor::builder(registry([ends()])).policy(Policy::new()).approver(approver));
    let pending = async || {
        let batch = Batch::new(scope(), vec![call("c1", "ends", json!({ "ends": "well" }))]);
        let waiting = executor.execute_batch(batch).await.into_replies().unwrap_err();
        waiting.iter().next().unwrap().clone()
    };
    let denied = pending().await;
    expect![[r#"
        0 c1 ends waiting; Some(["write file:a"]); ask by [] Some("write file:a"); digest
    "#]]
    .assert_eq(&printed(&memory.records()));
    resume(&executor, denied, Approval::Deny { reason: "no".to_owned() }).await;
    let pending = pending().await;
    resume(&executor, pending.clone(), Approval::Approve).await;
    expect![[r#"
        0 c1 ends waiting; Some(["write file:a"]); ask by [] Some("write file:a"); digest
        1 c1 - ended, did not run: denied, 93 of 93 bytes; None; Denied no; no digest
        2 c1 ends waiting; Some(["write file:a"]); ask by [] Some("write file:a"); digest
        3 c1 ends begun; Some(["write file:a"]); Approved ; digest
        4 c1 ends ended, ran: ok, 4 of 4 bytes; Some(["write file:a"]); Approved ; digest
    "#]]
    .assert_eq(&printed(&memory.records()));
    assert_eq!(memory.records().last().unwrap().digest, Some(pending.digest));
}

#[tokio::test]
async fn calls_made_by_tools_are_recorded() {
    let relay = Probe::new("relay").run(|_, cx: CallContext| async move {
        cx.call(call("inner", "ends", json!({ "ends": "fails" }))).await;
        Ok("done".into())
    });
    let (executor, memory) = kept(permissive([relay, ends()]));
    reply(&executor, "relay", json!({})).await;
    expect![[r#"
        0 c1 relay begun; Some([]); allow by ["*"] None; digest
        1 inner ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        2 inner ends ended, ran: error: failed, 8 of 8 bytes; Some(["write file:a"]); allow by ["*"] None; digest
        3 c1 relay ended, ran: ok, 4 of 4 bytes; Some([]); allow by ["*"] None; digest
    "#]].assert_eq(&printed(&memory.records()));
}

/// Answers in the tool's place, or has it do something else.
struct Instead(Before);

#[async_trait]
impl Layer for Instead {
    async fn before(&self, _: &LayerCall<'_>) -> Before {
        self.0.clone()
    }
}

#[tokio::test]
async fn the_word_of_a_layer_is_recorded() {
    let check = async |before: Before, expect: Expect| {
        let policy = anything().deny(Rule::tools("secret".parse().unwrap()));
        let (executor, memory) = kept(permissive([ends()]).policy(policy).layer(Instead(before)));
        reply(&executor, "ends", json!({ "ends": "well" })).await;
        expect.assert_eq(&printed(&memory.records()));
    };
    check(
        Before::skip(ToolOutput::text("cached")),
        expect![[r#"
            0 c1 ends ended, did not run: ok, 6 of 6 bytes; Some(["write file:a"]); layer Instead; digest
        "#]],
    )
    .await;
    check(
        Before::skip(LayerAnswer::new(ReplyStatus::Denied, "no")),
        expect![[r#"
            0 c1 ends ended, did not run: denied, 2 of 2 bytes; Some(["write file:a"]); layer Instead; digest
        "#]],
    )
    .await;
    check(Before::replace_input(json!({ "ends": "fails" })), expect![[r#"
        0 c1 ends begun; Some(["write file:a"]); allow by ["*"] None; digest
        1 c1 ends ended, ran: error: failed, 127 of 127 bytes; Some(["write file:a"]); allow by ["*"] None; digest
    "#]]).await;
    check(Before::replace_input(json!({ "ends": "unprepared" })), expect![[r#"
        0 c1 ends ended, did not run: error: not found, 139 of 139 bytes; Some(["write file:a"]); allow by ["*"] None; digest
    "#]]).await;
    check(Before::replace_input(json!({})), expect![[r#"
        0 c1 ends ended, did not run: error: invalid input, 219 of 219 bytes; Some(["write file:a"]); allow by ["*"] None; digest
    "#]]).await;
}

/// Breaks, or takes its time, before each call.
struct Faulty(bool);

#[async_trait]
impl Layer for Faulty {
    async fn before(&self, _: &LayerCall<'_>) -> Before {
        assert!(!self.0, "the layer breaks");
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_keeps_a_call_from_running_is_recorded() {
    let check = async |breaks: bool, expect: Expect| {
        let (executor, memory) = kept(permissive([ends()]).layer(Faulty(breaks)));
        reply(&executor, "ends", json!({ "ends": "well" })).await;
        expect.assert_eq(&printed(&memory.records()));
    };
    check(true, expect![[r#"
        0 c1 ends ended, did not run: error: panicked, 102 of 102 bytes; Some(["write file:a"]); layer Faulty; digest
    "#]]).await;
    check(
        false,
        expect![[r#"
        0 c1 ends ended, did not run: timed out, 89 of 89 bytes; Some(["write file:a"]); layer Faulty; digest
    "#]],
    )
    .await;
}

/// Cannot keep some records.
struct Full(Lines, &'static str);

impl JournalSink for Full {
    fn write(&self, record: &JournalRecord) -> io::Result<()> {
        let is_begun = record.entry == JournalEntry::Begun;
        if (is_begun && self.1 == "begun") || (!is_begun && self.1 == "ended") {
            return Err(io::Error::other("the disk is full"));
        }
        assert_ne!(self.1, "panics", "the sink breaks");
        self.0.add(line(record));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_recorded_does_not_run() {
    let check = async |fails: &'static str, layered: bool, expect: Expect| {
        let (lines, ran) = (Lines::default(), Arc::new(Mutex::new(false)));
        let runs = Arc::clone(&ran);
        let probe = Probe::new("t").run(move |_, _| {
            *runs.lock().unwrap() = true;
            std::future::ready(Ok("done".into()))
        });
        let journal = Journal::new(Arc::new(Full(lines.clone(), fails)));
        let mut builder = permissive([probe]).journal(journal).limits(Limits::default());
        if layered {
            builder = builder.layer(Instead(Before::proceed()));
        }
        let reply = reply(&builder.build(), "t", json!({})).await;
        let ran = *ran.lock().unwrap();
        expect.assert_eq(&format!("ran: {ran}\n{}\n{}", outline(&reply), lines.take()));
    };
    check("begun", false, expect![[r#"
        ran: false
        denied
        the host cannot record calls at the moment, and runs none that it cannot record; nothing was done, so say so and stop
        1 c1 t ended, did not run: denied, 117 of 117 bytes; Some([]); allow by ["*"] None; digest
    "#]]).await;
    check("begun", true, expect![[r#"
        ran: false
        denied
        the host cannot record calls at the moment, and runs none that it cannot record; nothing was done, so say so and stop
        1 c1 t ended, did not run: denied, 117 of 117 bytes; Some([]); allow by ["*"] None; digest
    "#]]).await;
    check("panics", false, expect![[r#"
        ran: false
        denied
        the host cannot record calls at the moment, and runs none that it cannot record; nothing was done, so say so and stop
    "#]]).await;
    check(
        "ended",
        false,
        expect![[r#"
        ran: true
        ok
        done
        0 c1 t begun; Some([]); allow by ["*"] None; digest
    "#]],
    )
    .await;
}
