use async_trait::async_trait;
use haft::tools_core::{Before, Layer, LayerCall};
use serde_json::json;

/// Puts notes that are written without a folder into one.
///
/// That it files what is old under `archive`, where this program's policy lets nobody write, is its mistake: what a layer
/// makes of an input is decided like what a model wrote.
pub(crate) struct Filing;

#[async_trait]
impl Layer for Filing {
    async fn before(&self, call: &LayerCall<'_>) -> Before {
        let mut input = call.call.input.clone();
        match input["path"].as_str() {
            Some(path) if call.spec.name().as_str() == "write_note" && !path.contains('/') => {
                let folder = if path.starts_with("old-") { "archive" } else { "drafts" };
                input["path"] = json!(format!("{folder}/{path}"));
                Before::replace_input(input)
            }
            _ => Before::proceed(),
        }
    }
}
