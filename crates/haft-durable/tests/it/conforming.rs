use crate::engine::MemoryEngine;
use async_trait::async_trait;
use expect_test::expect;
use haft_durable::Performer;
use haft_durable::conformance::{Subject, check};
use haft_tools_core::{Approval, LocalExecutorBuilder, ToolExecutor, approver_fn};
use std::sync::Arc;

struct Local;

#[async_trait]
impl Subject for Local {
    async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor> {
        Arc::new(builder.approver(approver_fn(|_| Approval::Later)).build())
    }
}

struct InMemory;

#[async_trait]
impl Subject for InMemory {
    async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor> {
        Arc::new(MemoryEngine::new(Performer::new(builder)))
    }
}

#[tokio::test]
async fn the_local_executor_does_what_every_one_has_to() {
    expect![[r#"
        an empty batch has no outcome
        replies are in the order of the calls, and each call has one
        calls that conflict have the outcome of one after the other
        a bad call costs its siblings nothing
        a call that repeats an id is refused
        nothing of an output is lost on the way
        each call has a key of its own for its effect
        a call that another makes is decided on its own
        a call that was held back is taken up with what was mended
        a call that nobody has decided waits, and has no effect
        an approved call takes effect once
        a denied call has no effect, and its model reads why
        a call can be given another input
        an answer that is still to come changes nothing
        a second answer is refused
        of many answers at once one counts
        an answer to something else is refused, and the call still waits
        a call that was given up is not gone on with
        what waits can be written down and read again
        a batch that was cancelled before starts nothing
        a running call learns that it is cancelled, and is answered
        what steering skips is not run
        an approval that comes too late is refused, and the call can still be denied"#]]
    .assert_eq(&check(&Local).await.join("\n"));
}

#[tokio::test]
async fn an_engine_that_keeps_courses_does_what_every_executor_has_to() {
    assert_eq!(check(&InMemory).await, check(&Local).await);
}
