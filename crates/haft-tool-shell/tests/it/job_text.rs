//! Who lets text reach a job.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use haft_core::{ReplyStatus, ToolCall};
use haft_tool_shell::CommandPatterns;
use haft_tools_core::{
    Access, AccessMode, Approval, Batch, CallScope, GrantTerm, LocalExecutor, PendingCall, Policy, Resource,
    Rule, RuleLanguage, Scheme, ToolExecutor as _, approver_fn,
};
use serde_json::{Value, json};

use crate::harness::scope;
use crate::jobs::Desk;

const JOB: Scheme = Scheme::new("job");

/// A person who lets everything run and has it remembered, and what they were asked.
struct Generous {
    executor: LocalExecutor,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Generous {
    fn at(desk: &Desk, policy: Policy, term: GrantTerm) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let approver = approver_fn(move |call: &PendingCall| {
            let unmet: Vec<String> = call.unmet.iter().map(haft_tools_core::Unmet::printed).collect();
            noted.lock().expect("no test panics with it").push(unmet.join("; "));
            Approval::ApproveFor { term }
        });
        let language = RuleLanguage::new().with(AccessMode::Execute, CommandPatterns::new());
        let executor = LocalExecutor::builder(desk.shell.registry().clone())
            .policy(policy.language(language))
            .approver(approver)
            .build();
        Self { executor, asked }
    }

    async fn call(&self, scope: &CallScope, tool: &str, input: Value) -> String {
        let call = ToolCall::new("c1".parse().expect("an id"), tool, input);
        let batch = Batch::new(scope.clone(), vec![call]);
        let mut replies = self.executor.execute_batch(batch).await.into_replies().expect("nobody waits");
        let reply = replies.pop().expect("each call gets a reply");
        assert_eq!(reply.status, ReplyStatus::Ok, "{}", reply.output.to_text());
        reply.output.to_text()
    }

    fn asked(&self) -> String {
        self.asked.lock().expect("no test panics with it").join("\n")
    }
}

/// Starts an interpreter, and gives it something harmless and then something else.
async fn write_twice(policy: Policy, term: GrantTerm) -> String {
    let desk = Desk::new();
    let person = Generous::at(&desk, policy, term);
    let start = json!({ "command": "bash", "background": true, "stdin": true });
    person.call(&scope(), "bash", start).await;
    person.asked.lock().expect("no test panics with it").clear();
    for text in ["echo harmless\n", "echo 'rm -rf ~' > done\n"] {
        person.call(&scope(), "job_write", json!({ "job": "j1", "text": text })).await;
    }
    person.call(&scope(), "job_write", json!({ "job": "j1", "close": true })).await;
    person.call(&scope(), "job_wait", json!({ "jobs": ["j1"] })).await;
    person.asked()
}

#[tokio::test]
async fn each_text_is_asked_about_whatever_was_granted_before() {
    for term in [GrantTerm::Run, GrantTerm::Always] {
        expect![[r#"
            exec job:j1; opaque (what the job `j1`, `bash`, makes of: echo harmless\u{a})
            exec job:j1; opaque (what the job `j1`, `bash`, makes of: echo 'rm -rf ~' > done\u{a})
            exec job:j1
            nothing outside its own memory"#]]
        .assert_eq(&write_twice(Policy::new(), term).await);
    }
}

#[tokio::test]
async fn a_rule_about_a_job_does_not_speak_of_what_it_reads() {
    let whole = Rule::access(AccessMode::Execute, Resource::subtree(JOB, ""));
    let one = Rule::access(AccessMode::Execute, Resource::exact(JOB, "j1"));
    let policy = Policy::new().allow(whole).allow(one);
    expect![[r#"
        opaque (what the job `j1`, `bash`, makes of: echo harmless\u{a})
        opaque (what the job `j1`, `bash`, makes of: echo 'rm -rf ~' > done\u{a})
        nothing outside its own memory"#]]
    .assert_eq(&write_twice(policy, GrantTerm::Always).await);
}

#[tokio::test]
async fn what_was_approved_of_one_job_is_not_approved_of_another_of_its_name() {
    let accesses = async |command: &str| -> Vec<Access> {
        let desk = Desk::new();
        desk.call("bash", json!({ "command": command, "background": true, "stdin": true })).await;
        let mut tools = desk.jobs.tools().into_iter();
        let tool = tools.find(|tool| tool.spec().name().as_str() == "job_write").expect("there is one");
        let input = json!({ "job": "j1", "text": "go\n" });
        let prepared = tool.prepare(&input, &scope()).expect("it can be prepared");
        prepared.accesses().iter().cloned().collect()
    };
    let first = accesses("cat; echo one").await;
    assert_eq!(first, accesses("cat; echo one").await);
    assert_ne!(first, accesses("cat; echo two").await);
    assert_ne!(accesses("cat\necho one").await, accesses("cat\necho two").await);
}
