use crate::Changing;
use crate::resources::{picture, text};
use async_trait::async_trait;
use haft_core::Content;
use haft_mcp::{
    Ask, AskKind, Caller, CallingClient, PromptArgument, PromptMessage, PromptRole, Prompts, ServedPrompt,
};
use haft_tools_core::Changes;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Offers the suite's prompts.
pub(crate) struct Fixture(Changing);

impl Fixture {
    pub(crate) fn new(changing: Changing) -> Self {
        Self(changing)
    }
}

#[async_trait]
impl Prompts for Fixture {
    fn list(&self, _caller: &Caller) -> Vec<ServedPrompt> {
        let prompt = |name: &str, description: &str, arguments: &[&str]| {
            let mut prompt = ServedPrompt::new(name);
            prompt.description = Some(description.to_owned());
            let argument = |name: &&str| PromptArgument::new(*name).description("A text.").required();
            prompt.arguments = arguments.iter().map(argument).collect();
            prompt
        };
        let mut prompts = vec![
            prompt("test_simple_prompt", "A prompt.", &[]),
            prompt("test_prompt_with_arguments", "A prompt with arguments.", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", "A prompt with a resource.", &["resourceUri"]),
            prompt("test_prompt_with_image", "A prompt with a picture.", &[]),
            prompt("test_input_required_result_prompt", "A prompt that asks.", &[]),
        ];
        if self.0.has_more_prompts.load(Ordering::Relaxed) {
            prompts.push(prompt("test_dynamic_prompt", "A prompt that comes and goes.", &[]));
        }
        prompts
    }

    async fn get(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
        client: &CallingClient,
    ) -> Result<Vec<PromptMessage>, String> {
        let argument = |name: &str| arguments.get(name).map(String::as_str).unwrap_or_default();
        let contents = match name {
            "test_simple_prompt" | "test_dynamic_prompt" => {
                vec![Content::text("This is a simple prompt for testing.")]
            }
            "test_prompt_with_arguments" => vec![Content::text(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))],
            "test_prompt_with_embedded_resource" => vec![
                text(argument("resourceUri"), "text/plain", "Embedded resource content for testing."),
                Content::text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => {
                vec![Content::image(picture(), "image/png"), Content::text("Please analyze the image above.")]
            }
            "test_input_required_result_prompt" => {
                let ask = AskKind::Form {
                    message: "What context should the prompt use?".to_owned(),
                    schema: json!({
                        "type": "object",
                        "properties": { "context": { "type": "string" } },
                        "required": ["context"],
                    }),
                };
                let mut answers = client.ask(vec![Ask::new("user_context", ask)]).await;
                let answer = answers.remove("user_context").ok_or("nothing was answered")?;
                let answer = answer.map_err(|error| error.to_string())?;
                let context = answer["context"].as_str().unwrap_or_default();
                vec![Content::text(format!("Use the following context: {context}"))]
            }
            _ => return Err(format!("there is no prompt `{name}`")),
        };
        Ok(contents.into_iter().map(|content| PromptMessage::new(PromptRole::User, content)).collect())
    }

    fn complete(&self, name: &str, argument: &str, value: &str, _caller: &Caller) -> Vec<String> {
        if (name, argument) != ("test_prompt_with_arguments", "arg1") {
            return Vec::new();
        }
        let known = ["paris", "park", "party"].into_iter();
        known.filter(|known| known.starts_with(value)).map(str::to_owned).collect()
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.0.prompt_changes.changes())
    }
}
