//! What runs on beside calls.

mod waiting;

use std::time::Duration;

use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, RunId, ToolCall, ToolReply};
use haft_testkit::Tree;
use haft_tool_shell::{Bash, Environment, Jobs, ScriptOutputs};
use haft_tools_core::{AllowAll, Batch, CallScope, LocalExecutor, Tool, ToolExecutor as _, ToolRegistry};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::harness::{SOON, Shell, shown, until};

/// A shell with jobs, whose calls are of the run `run-1`.
pub(crate) struct Desk {
    pub(crate) shell: Shell,
    pub(crate) jobs: Jobs,
    pub(crate) token: CancellationToken,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let tree = Tree::new();
        let jobs = Jobs::new(ScriptOutputs::spilling_into(tree.path().join(".outputs")));
        let bash = Bash::new(tree.workdir(), Environment::minimal()).jobs(&jobs);
        let tools = jobs
            .tools()
            .into_iter()
            .fold(ToolRegistry::new().with(bash).expect("it is well formed"), |tools, tool| {
                tools.with(tool).expect("it is well formed")
            });
        Self { shell: Shell::of(tree, tools), jobs, token: CancellationToken::new() }
    }

    async fn call_as(&self, run: &str, tool: &str, input: Value) -> ToolReply {
        let executor = LocalExecutor::builder(self.shell.registry().clone()).approver(AllowAll).build();
        let call = ToolCall::new("c1".parse().expect("it is well formed"), tool, input);
        let scope = CallScope::new(run.parse().expect("it is well formed"));
        let batch = Batch::new(scope, vec![call]).cancelled_by(self.token.child_token());
        let done = timeout(SOON, executor.execute_batch(batch)).await.expect("the call ends soon");
        done.into_replies().expect("it is well formed").pop().expect("it is well formed")
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> ToolReply {
        self.call_as("run-1", tool, input).await
    }

    async fn check(&self, tool: &str, input: Value, expected: Expect) {
        let reply = self.call(tool, input).await;
        expected.assert_eq(&shown(&reply));
    }

    /// Starts a script in the background, and waits until it has made the file `ready`.
    async fn start(&self, command: &str) {
        let reply = self.call("bash", json!({ "command": command, "background": true })).await;
        assert_eq!(reply.status, ReplyStatus::Ok, "{}", reply.output.to_text());
        let ready = self.shell.tree.path().join("ready");
        until(|| ready.exists()).await;
        std::fs::remove_file(ready).expect("it is well formed");
    }

    fn news(&self) -> Vec<String> {
        self.jobs.take_news(&run())
    }
}

fn run() -> RunId {
    "run-1".parse().expect("it is well formed")
}

#[tokio::test]
async fn a_job_is_started_polled_and_waited_for() {
    let desk = Desk::new();
    let script = "echo one; touch ready; until [ -e go ]; do sleep 0.01; done; echo two; exit 3";
    desk.start(script).await;
    desk.check(
        "job_poll",
        json!({ "job": "j1" }),
        expect![[r#"
        ok
        one
        [job `j1`: running; cursor 4]
    "#]],
    )
    .await;
    desk.check(
        "job_poll",
        json!({ "job": "j1" }),
        expect![[r#"
        ok
        (nothing new)
        [job `j1`: running; cursor 4]
    "#]],
    )
    .await;
    desk.check(
        "job_list",
        json!({}),
        expect![[r#"
        ok
        j1: running: echo one; touch ready; until [ -e go ]; do sleep 0.01; done; echo two; exit 3
    "#]],
    )
    .await;
    assert!(desk.news().is_empty());
    std::fs::write(desk.shell.tree.path().join("go"), "").unwrap();
    desk.check("job_wait", json!({ "jobs": ["j1"] }), expect![[r#"
        ok
        [j1: ended, exit code 3: echo one; touch ready; until [ -e go ]; do sleep 0.01; done; echo two; exit 3]
        one
        two
    "#]]).await;
    desk.check(
        "job_poll",
        json!({ "job": "j1" }),
        expect![[r#"
        ok
        two
        [job `j1`: ended, exit code 3; cursor 8]
    "#]],
    )
    .await;
    desk.check(
        "job_poll",
        json!({ "job": "j1", "cursor": 2 }),
        expect![[r#"
        ok
        e
        two
        [job `j1`: ended, exit code 3; cursor 8]
    "#]],
    )
    .await;
    desk.check(
        "job_list",
        json!({}),
        expect![[r#"
        ok
        j1: ended, exit code 3: echo one; touch ready; until [ -e go ]; do sleep 0.01; done; echo two; exit 3
    "#]],
    )
    .await;
    assert!(desk.news().is_empty(), "it was told already");
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn what_was_started_is_said_at_once() {
    let desk = Desk::new();
    desk.check(
        "bash",
        json!({ "command": "sleep 60", "background": true }),
        expect![[r#"
        ok
        [started as the job `j1`: `job_poll` gives what it prints; you are told when it ends]
    "#]],
    )
    .await;
    desk.check(
        "job_signal",
        json!({ "job": "j1" }),
        expect![[r#"
        ok
        [job `j1`: ended, killed by signal 15]
    "#]],
    )
    .await;
    desk.check(
        "job_signal",
        json!({ "job": "j1" }),
        expect![[r#"
        ok
        [job `j1`: ended, killed by signal 15 already]
    "#]],
    )
    .await;
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn its_end_is_news_once() {
    let desk = Desk::new();
    desk.start("seq 3; touch ready; exit 1").await;
    let mut news = Vec::new();
    assert!(desk.jobs.take_news(&"run-2".parse().unwrap()).is_empty());
    while news.is_empty() {
        news = desk.news();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    expect![[r#"
        The job `j1` (`seq 3; touch ready; exit 1`) has ended, exit code 1.
        The end of what it printed; `job_poll` gives all of it:
        1
        2
        3"#]]
    .assert_eq(&news.join("\n"));
    assert!(desk.news().is_empty());
}

#[tokio::test]
async fn nothing_of_a_flood_is_lost() {
    let desk = Desk::new();
    desk.start("seq 30000; touch ready").await;
    let (mut seen, mut polls) = (String::new(), 0);
    loop {
        let text = desk.call("job_poll", json!({ "job": "j1", "wait": 10 })).await.output.to_text();
        let lines = text.lines().filter(|line| !line.starts_with(['[', '(']));
        // A line can be divided between two polls.
        seen.push_str(&lines.collect::<Vec<_>>().join("\n"));
        polls += 1;
        if text.ends_with("ended, exit code 0; cursor 168894]") {
            break;
        }
        assert!(polls < 100, "{text}");
    }
    let numbers: String = (1..=30_000).map(|number| number.to_string()).collect();
    assert!(seen.replace('\n', "") == numbers, "{} bytes in {polls} polls", seen.len());
}

#[tokio::test]
async fn a_call_that_takes_long_becomes_a_job() {
    let desk = Desk::new();
    let script = "echo begun; until [ -e go ]; do sleep 0.01; done; echo done";
    desk.check("bash", json!({ "command": script, "yield_after": 5 }), expect![[r#"
        ok
        begun
        [still running as the job `j1`; `job_wait` waits for it, `job_poll` gives what is printed from here on, `job_signal` ends it]
    "#]]).await;
    std::fs::write(desk.shell.tree.path().join("go"), "").unwrap();
    desk.check(
        "job_wait",
        json!({}),
        expect![[r#"
        ok
        [j1: ended, exit code 0: echo begun; until [ -e go ]; do sleep 0.01; done; echo done]
        begun
        done
    "#]],
    )
    .await;
    desk.check(
        "job_poll",
        json!({ "job": "j1" }),
        expect![[r#"
        ok
        done
        [job `j1`: ended, exit code 0; cursor 11]
    "#]],
    )
    .await;
    // One that does not take long does not.
    desk.check(
        "bash",
        json!({ "command": "echo quick", "yield_after": 60 }),
        expect![[r#"
        ok
        quick
        [exit code 0]
    "#]],
    )
    .await;
}

const LEFT: &str = "started
[still running as the job `j1`: sleep (ID); `job_poll` gives what is printed from here on, `job_signal` ends it]
[exit code 0]";

#[tokio::test]
async fn what_is_left_in_the_background_becomes_a_job() {
    for command in [
        "sleep 61 & echo started",
        "setsid sleep 61 & echo started",
        "(setsid sleep 61 &); echo started",
        "trap '' TERM; sleep 61 & echo started",
        "sleep 61 > /dev/null 2>&1 & echo started",
        "(setsid nohup sleep 61 < /dev/null > /dev/null 2>&1 &); echo started",
    ] {
        let desk = Desk::new();
        let reply = desk.call("bash", json!({ "command": command })).await;
        let text = reply.output.to_text();
        // It may be looked at before it has become `sleep`.
        let process = &reply.output.details["background"]["processes"][0];
        let name = process["name"].as_str().unwrap();
        assert!(["bash", "setsid", "nohup", "sleep"].contains(&name), "{name}");
        let told = format!("{name} ({})", process["id"]);
        let text = text.replace(&told, "sleep (ID)");
        assert_eq!(text, LEFT, "{command}");
        assert_eq!(reply.output.details["exit_code"], 0, "{command}");
        let reply = desk.call("job_signal", json!({ "job": "j1" })).await;
        assert_eq!(reply.output.to_text(), "[job `j1`: ended, exit code 0]");
        desk.shell.is_deserted().await;
    }
}

#[tokio::test]
async fn the_port_of_a_job_is_free_when_it_has_ended() {
    let (desk, port) = (Desk::new(), haft_testkit::free_port());
    // Its memory takes the system a while to take back, during which it still has the port.
    let serve = format!(
        "import socket, time; s = socket.create_server((\"127.0.0.1\", {port})); held = b\"x\" * 200_000_000; open(\"held\", \"w\"); time.sleep(61)"
    );
    let command = format!("python3 -c '{serve}' > /dev/null 2>&1 & wait");
    desk.call("bash", json!({ "command": command, "background": true })).await;
    until(|| desk.shell.tree.path().join("held").exists()).await;
    desk.call("job_signal", json!({ "job": "j1", "signal": "terminate" })).await;
    let reply = desk.call("job_wait", json!({ "jobs": ["j1"] })).await;
    assert!(reply.output.to_text().contains("ended"), "{}", reply.output.to_text());
    std::net::TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
}

#[tokio::test]
async fn a_flood_from_the_background_goes_on_into_its_file() {
    let desk = Desk::new();
    let reply =
        desk.call("bash", json!({ "command": "(yes | head -c 3000000; sleep 61) & echo begun" })).await;
    assert_eq!(reply.status, ReplyStatus::Ok);
    let text =
        desk.call("job_poll", json!({ "job": "j1", "cursor": 2_999_990, "wait": 10 })).await.output.to_text();
    assert!(text.contains("cursor 3000006]"), "{text}");
}

#[tokio::test]
async fn a_job_reads_what_is_written_to_it() {
    let desk = Desk::new();
    let script = "while read line; do echo \"got $line\"; done; echo end";
    desk.call("bash", json!({ "command": script, "background": true, "stdin": true })).await;
    desk.check(
        "job_write",
        json!({ "job": "j1", "text": "one\ntwo\n" }),
        expect![[r#"
        ok
        [written; `job_poll` shows what the job `j1` does]
    "#]],
    )
    .await;
    desk.check(
        "job_write",
        json!({ "job": "j1", "text": "three", "close": true }),
        expect![[r#"
        ok
        [written; `job_poll` shows what the job `j1` does]
    "#]],
    )
    .await;
    desk.check(
        "job_write",
        json!({ "job": "j1", "text": "four" }),
        expect![[r#"
            error: invalid input
            the standard input of the job is closed; start one with `stdin` or `pty` to write to it
        "#]],
    )
    .await;
    desk.check(
        "job_wait",
        json!({}),
        expect![[r#"
            ok
            [j1: ended, exit code 0: while read line; do echo "got $line"; done; echo end]
            got one
            got two
            end
        "#]],
    )
    .await;
    desk.check(
        "job_write",
        json!({ "job": "j1", "text": "five" }),
        expect![[r#"
        error: invalid input
        the job has ended; read what it printed with `job_poll`, or start it again with `bash` and `background`
    "#]],
    )
    .await;
    // Others have an empty standard input.
    desk.start("touch ready; cat; sleep 61").await;
    desk.check(
        "job_write",
        json!({ "job": "j2", "text": "six" }),
        expect![[r#"
            error: invalid input
            the standard input of the job is closed; start one with `stdin` or `pty` to write to it
        "#]],
    )
    .await;
}

#[tokio::test]
async fn writing_is_asked_about() {
    let desk = Desk::new();
    desk.start("touch ready; sleep 61").await;
    let tool = desk.jobs.tools().into_iter().find(|tool| tool.spec().name().as_str() == "job_write").unwrap();
    let scope = CallScope::new(run());
    let prepared = tool.prepare(&json!({ "job": "j1", "text": "rm -rf .\n" }), &scope).unwrap();
    let accesses: Vec<String> = prepared.accesses().iter().map(ToString::to_string).collect();
    expect![[r#"
        exec job:j1
        opaque (what the job `j1`, `touch ready; sleep 61`, makes of: rm -rf .\u{a})"#]]
    .assert_eq(&accesses.join("\n"));
    assert_eq!(prepared.preview().await.as_text(), "rm -rf .\n");
}

#[tokio::test]
async fn no_other_run_knows_of_it() {
    let desk = Desk::new();
    desk.start("echo secret; touch ready; sleep 61").await;
    for (tool, input) in [
        ("job_poll", json!({ "job": "j1" })),
        ("job_write", json!({ "job": "j1", "text": "x" })),
        ("job_signal", json!({ "job": "j1" })),
        ("job_wait", json!({ "jobs": ["j1"] })),
    ] {
        let reply = desk.call_as("run-2", tool, input).await;
        let expected = "there is no job `j1`; you have no jobs; `bash` starts one with `background`";
        assert_eq!((reply.output.to_text().as_str(), reply.status.is_ok()), (expected, false), "{tool}");
    }
    assert_eq!(desk.call_as("run-2", "job_list", json!({})).await.output.to_text(), "(no jobs)");
    desk.jobs.end_run(&"run-2".parse().unwrap());
    desk.check(
        "job_list",
        json!({}),
        expect![[r#"
        ok
        j1: running: echo secret; touch ready; sleep 61
    "#]],
    )
    .await;
}

#[tokio::test]
async fn ends_with_its_run() {
    let stubborn = "trap '' TERM; setsid sleep 61 & touch ready; wait";
    // Because a host says so, because the run is cancelled, because everything is dropped.
    let desk = Desk::new();
    desk.start(stubborn).await;
    desk.jobs.end_run(&run());
    desk.shell.is_deserted().await;

    let desk = Desk::new();
    desk.start(stubborn).await;
    desk.token.cancel();
    desk.shell.is_deserted().await;
    until(|| !desk.news().is_empty()).await;

    let Desk { shell, jobs, .. } = {
        let desk = Desk::new();
        desk.start(stubborn).await;
        desk
    };
    drop(jobs);
    assert!(!shell.processes().is_empty(), "the tools hold it");
    let tree = shell.without_tools();
    tree.is_deserted().await;
}

#[tokio::test]
async fn there_are_64_at_most() {
    let desk = Desk::new();
    for _ in 0..64 {
        let reply = desk.call("bash", json!({ "command": "exec sleep 61", "background": true })).await;
        assert_eq!(reply.status, ReplyStatus::Ok, "{}", reply.output.to_text());
    }
    desk.check("bash", json!({ "command": "sleep 61", "background": true }), expect![[r#"
        error: unavailable
        64 jobs are running, and more there cannot be; end one with `job_signal`, or wait for one with `job_wait`
    "#]]).await;
    // What cannot become a job is waited for or ended as where there are none.
    desk.check(
        "bash",
        json!({ "command": "sleep 1.2; echo done", "yield_after": 1 }),
        expect![[r#"
        ok
        done
        [exit code 0]
    "#]],
    )
    .await;
    desk.check("bash", json!({ "command": "sleep 61 & echo done" }), expect![[r#"
        ok
        done
        [what was still running in the background was ended: nothing runs on after a call, so do what needs it in the same command]
        [exit code 0]
    "#]]).await;
    desk.jobs.end().await;
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn signals_reach_all_of_it() {
    let desk = Desk::new();
    desk.start("trap 'echo interrupted; exit 7' INT; touch ready; while :; do sleep 0.01; done").await;
    desk.check(
        "job_signal",
        json!({ "job": "j1", "signal": "interrupt" }),
        expect![[r#"
        ok
        [sent to the job `j1`; `job_poll` shows what it does]
    "#]],
    )
    .await;
    desk.check("job_wait", json!({}), expect![[r#"
        ok
        [j1: ended, exit code 7: trap 'echo interrupted; exit 7' INT; touch ready; while :; do sleep 0.01; done]
        interrupted
    "#]]).await;
}

#[test]
fn the_tools_describe_themselves() {
    let jobs = Jobs::new(ScriptOutputs::spilling_into("/nowhere"));
    let tools = jobs.tools();
    let described = |tool: &std::sync::Arc<dyn Tool>| {
        let spec = tool.spec();
        format!("{}: {}\n{}\n", spec.name(), spec.description(), spec.input_schema().as_value()["properties"])
    };
    expect![[r##"
        job_list: Lists your jobs: what runs in the background, and what has ended there.
        null
        job_poll: Gives what a job has printed since you last saw it, about 24 KiB at a time, and whether it still runs. Of a job with a terminal it gives what stands on the screen. Nothing is left out: with `cursor` you can look at any part again, and `read_output` searches in all of it.
        {"cursor":{"description":"The byte from which on to give what was printed; if it is left out, from where you last saw it to.","format":"uint64","minimum":0,"type":"integer"},"job":{"description":"The job, such as `j1`.","type":"string"},"wait":{"default":0,"description":"How many seconds to wait for something new, if there is nothing.","format":"uint32","maximum":60,"minimum":0,"type":"integer"}}
        job_signal: Sends a signal to all processes of a job. With `end`, which is meant if no signal is given, they are asked to end, and killed half a second later.
        {"job":{"description":"The job, such as `j1`.","type":"string"},"signal":{"$ref":"#/$defs/Sent","description":"What to send."}}
        job_wait: Waits until jobs have ended, and says how; `job_poll` gives all that they printed. Without `jobs` it waits for all that run. With `until` = `any` it comes back when the first of them has ended.
        {"jobs":{"default":[],"description":"The jobs, such as `j1`.","items":{"type":"string"},"maxItems":64,"type":"array"},"timeout":{"default":600,"description":"How many seconds to wait at most.","format":"uint32","maximum":3600,"minimum":0,"type":"integer"},"until":{"$ref":"#/$defs/Until","description":"Whether to wait for the first of them or for all."}}
        job_write: Writes to the standard input of a job that was started with `stdin` or `pty`, as it stands: end a line with a line feed. Into a terminal it types: `\r` is the enter key, `\u0003` Ctrl-C, `\u001b[A` the upward arrow.
        {"close":{"default":false,"description":"Whether the standard input is closed afterwards, so that the job sees its end.","type":"boolean"},"job":{"description":"The job, such as `j1`.","type":"string"},"text":{"default":"","description":"What to write.","type":"string"}}
    "##]].assert_eq(&tools.iter().map(described).collect::<Vec<_>>().concat());
    let tree = Tree::new();
    let bash = Bash::new(tree.workdir(), Environment::minimal()).jobs(&jobs);
    let properties = &bash.spec().input_schema().as_value()["properties"];
    let of_jobs =
        ["background", "yield_after", "wait_for", "port", "stdin"].map(|name| properties[name].to_string());
    expect![[r#"
        {"default":false,"description":"Whether the script runs on as a job; `timeout` does not count for it then.","type":"boolean"}
        {"description":"After how many seconds the script becomes a job if it has not ended.","format":"uint32","maximum":600,"minimum":1,"type":"integer"}
        {"description":"Waits, up to 60 seconds, until a job that is started in the background prints what this regular expression matches.","maxLength":2000,"minLength":1,"type":"string"}
        {"description":"Waits, up to 60 seconds, until a job that is started in the background serves on this port of 127.0.0.1 or `::1`.","format":"uint16","maximum":65535,"minimum":1,"type":"integer"}
        {"default":false,"description":"Whether a job that is started in the background can be written to with `job_write`.","type":"boolean"}"#]].assert_eq(&of_jobs.join("\n"));
    expect!["Each call is a new shell: variables and functions are forgotten afterwards, files stay. Nothing can be typed in: stdin is empty or what `input` says, there is no terminal, and prompts, pagers and editors are switched off, so pass options such as `-y` or `-m`. Long output is cut to its beginning and its end; send it to a file and look at parts of it where the middle matters. With `background` it becomes a job, which runs on beside your other calls until it ends, `job_signal` ends it or you are done; so does what is still running when the script ends."].assert_eq(bash.spec().description().lines().last().unwrap());
}
