use async_trait::async_trait;
use haft::core::Content;
use haft::tools_core::{Layer, LayerAnswer, LayerCall};

/// Takes the codes of door locks out of what a model reads, and says so.
pub(crate) struct Redacting;

const MARK: &str = "code:";

#[async_trait]
impl Layer for Redacting {
    async fn after(&self, _call: &LayerCall<'_>, mut answer: LayerAnswer) -> LayerAnswer {
        let mut count = 0;
        for part in &mut answer.output.content {
            if let Content::Text { text } = part {
                let words = text.split(' ').map(|word| {
                    let is_code = word.starts_with(MARK);
                    count += usize::from(is_code);
                    if is_code { "code:***" } else { word }
                });
                *text = words.collect::<Vec<_>>().join(" ");
            }
        }
        if count > 0 {
            // What the output holds as data may hold the code, too.
            answer.output.structured = None;
            answer.output.content.push(Content::text(format!("[{count} codes were taken out]")));
        }
        answer
    }
}
