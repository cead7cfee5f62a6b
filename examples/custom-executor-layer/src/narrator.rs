use async_trait::async_trait;
use haft::CallContext;
use haft::core::ToolOutput;
use haft::tools_core::{Before, Layer, LayerAnswer, LayerCall};

/// Prints what happens to a call, with the four callbacks that there are; suppresses updates that nobody needs.
pub(crate) struct Narrator;

#[async_trait]
impl Layer for Narrator {
    async fn before(&self, call: &LayerCall<'_>) -> Before {
        let accesses: Vec<String> = call.accesses.iter().map(ToString::to_string).collect();
        println!("  before {}: {}", call.call.id, accesses.join(", "));
        Before::proceed()
    }

    async fn after(&self, call: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        println!("  after {}: {}", call.call.id, answer.status);
        answer
    }

    fn before_update(&self, _cx: &CallContext, update: ToolOutput) -> Option<ToolOutput> {
        let is_wanted = !update.to_text().contains("drafts/");
        is_wanted.then_some(update)
    }

    fn after_update(&self, cx: &CallContext, update: &ToolOutput) {
        println!("  update of {}: {}", cx.call_id(), update.to_text());
    }
}
