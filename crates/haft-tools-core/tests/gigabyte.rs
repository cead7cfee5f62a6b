//! What becomes of a gigabyte of text, and what it costs in memory.

#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]

use async_trait::async_trait;
use expect_test::expect;
use haft_core::{CallId, OutputId, ToolCall, ToolError, ToolOutput, ToolReply};
use haft_testkit::counting::CountingAll;
use haft_tools_core::{
    Accesses, AllowAll, Batch, CallContext, CallScope, LocalExecutor, LocalOutputs, OutputChunk, OutputError,
    OutputStore, RawOutput, ReadOutput, Retention, ToolExecutor as _, ToolRegistry, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

const GIGABYTE: usize = 1 << 30;

/// A line of 64 bytes.
const LINE: &str = "0123456789 0123456789 0123456789 0123456789 0123456789 12345678\n";

/// All threads count together, so what is measured is one thing at a time.
static MEASURING: Mutex<()> = Mutex::new(());

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Has a tool answer with a gigabyte of lines, and then makes another call of the same executor; gives both replies, and the most bytes that
/// were held at once for the first.
fn answered(outputs: Arc<dyn OutputStore>, then: Option<Value>) -> (ToolReply, Option<ToolReply>, usize) {
    let tool = tool_fn("gives", "Gives a gigabyte.", Accesses::none(), |_: Nothing, _: CallContext| async {
        Ok::<_, ToolError>(RawOutput::from(ToolOutput::text(LINE.repeat(GIGABYTE / LINE.len()))))
    });
    let tools =
        ToolRegistry::new().with(tool.unwrap()).unwrap().with(ReadOutput::new(Arc::clone(&outputs))).unwrap();
    let executor = LocalExecutor::builder(tools).approver(AllowAll).outputs(outputs).build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let call = |tool: &str, input: Value| {
        let call = ToolCall::new("c1".parse().unwrap(), tool, input);
        let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
        runtime.block_on(executor.execute_batch(batch)).into_replies().unwrap().remove(0)
    };
    let (reply, most) = ALLOCATOR.most_live(|| call("gives", json!({})));
    let next = then.map(|input| call("read_output", input));
    (reply, next, usize::try_from(most).unwrap())
}

/// The note on what was cut.
fn note(reply: &ToolReply) -> String {
    let text = reply.output.to_text();
    assert!(text.len() < 33 << 10, "{}", text.len());
    text.lines().find(|line| line.starts_with('[')).unwrap().to_owned()
}

/// Takes a text and remembers how long it was and how it ends.
#[derive(Default)]
struct Taken(Mutex<Option<(usize, String)>>);

#[async_trait]
impl OutputStore for Taken {
    async fn store(&self, _: &CallScope, _: &CallId, text: String) -> Result<OutputId, OutputError> {
        *self.0.lock().unwrap() = Some((text.len(), text[text.len() - LINE.len()..].to_owned()));
        Ok("o1".parse().unwrap())
    }

    async fn read(
        &self,
        _: &CallScope,
        output: &OutputId,
        _: Range<u64>,
    ) -> Result<OutputChunk, OutputError> {
        Err(OutputError::Unknown { output: output.clone() })
    }
}

#[test]
fn a_gigabyte_of_text_is_cut_and_handed_to_the_store_without_another_copy() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = Arc::new(Taken::default());
    let (reply, _, most) = answered(Arc::clone(&taken) as _, None);
    expect![[r#"[… 1073709120 bytes, 16776705 lines cut here: `read_output` gives them, with output "o1" and offset 342 …]"#]].assert_eq(&note(&reply));
    assert_eq!(*taken.0.lock().unwrap(), Some((GIGABYTE, LINE.to_owned())));
    assert!(most < GIGABYTE + (4 << 20), "{most} bytes were held at once");
}

/// To be run by itself: `cargo test --release -p haft-tools-core --test gigabyte -- --ignored`.
#[test]
#[ignore = "writes a file of 1 GiB"]
fn a_gigabyte_of_text_is_kept_in_a_file_and_read_back() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let retention = Retention { total_bytes: 2 << 30, ..Retention::default() };
    let outputs = LocalOutputs::spilling_into(directory.path()).retention(retention);
    let last = json!({ "output": "o1", "offset": GIGABYTE / LINE.len(), "limit": 5 });
    let (reply, read, most) = answered(Arc::new(outputs), Some(last));
    expect![[r#"[… 1073709120 bytes, 16776705 lines cut here: `read_output` gives them, with output "o1" and offset 342 …]"#]].assert_eq(&note(&reply));
    assert!(most < GIGABYTE + (4 << 20), "{most} bytes were held at once");
    expect![[r"
        output `o1`: 16777216 lines, 1073741824 bytes
        16777216	0123456789 0123456789 0123456789 0123456789 0123456789 12345678
        [line 16777216 of 16777216, the end of the output]"]]
    .assert_eq(&read.unwrap().output.to_text());
}
