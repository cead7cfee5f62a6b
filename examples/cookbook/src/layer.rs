//! Log, change and redact what goes in and out
//!
//! A `Layer` sees each call that is permitted right before it runs, and each answer. An input that it puts in the place of another is
//! validated and decided anew, so that no layer can have something run that the policy does not let run. The model is told what was
//! changed.

use crate::Done;
use async_trait::async_trait;
use haft::core::Content;
use haft::tools_core::{Before, Layer, LayerAnswer, LayerCall};
use haft::{
    Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Rule, ToolCall, ToolError,
    ToolExecutor as _, ToolRegistry, tool_fn,
};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    /// Whose customers.
    region: String,
    /// The most to give.
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

/// Asks for few at a time, and keeps addresses of mail from the model.
struct House;

#[async_trait]
impl Layer for House {
    async fn before(&self, call: &LayerCall<'_>) -> Before {
        println!("> {} {}", call.call.name, call.call.input);
        let mut input = call.call.input.clone();
        if input["limit"].as_u64().is_some_and(|limit| limit > 2) {
            input["limit"] = json!(2);
            return Before::replace_input(input);
        }
        Before::proceed()
    }

    async fn after(&self, call: &LayerCall<'_>, mut answer: LayerAnswer) -> LayerAnswer {
        for part in &mut answer.output.content {
            if let Content::Text { text } = part {
                let words = text.split(' ').map(|word| if word.contains('@') { "[address]" } else { word });
                *text = words.collect::<Vec<_>>().join(" ");
            }
        }
        // The result as data would hold the addresses, too.
        answer.output.structured = None;
        println!("< {} {}", call.call.name, answer.status);
        answer
    }
}

pub(crate) async fn run() -> Done {
    let customers = tool_fn(
        "customers",
        "Lists customers.",
        Accesses::none(),
        |input: Input, _: CallContext| async move {
            let all = ["Ada ada@example.org", "Bo bo@example.org", "Cy cy@example.org"];
            let some = all.iter().take(input.limit as usize).copied().collect::<Vec<_>>();
            Ok::<_, ToolError>(format!("{}: {}", input.region, some.join(" , ")))
        },
    )?;
    let executor = LocalExecutor::builder(ToolRegistry::new().with(customers)?)
        .policy(Policy::new().allow(Rule::tools("customers".parse()?)))
        .layer(House)
        .build();
    let call = ToolCall::new("c1".parse()?, "customers", json!({ "region": "north", "limit": 50 }));
    let batch = Batch::new(CallScope::new("run-1".parse()?), vec![call]);
    let replies = executor.execute_batch(batch).await.into_replies()?;
    println!("{}", replies[0].output.to_text());
    Ok(())
}
