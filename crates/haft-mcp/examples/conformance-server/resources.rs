use async_trait::async_trait;
use haft_core::{Blob, Content};
use haft_mcp::{Caller, CallingClient, ListedTemplate, Resources};
use serde_json::json;
use tokio::sync::watch;

/// A picture of one point.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63,
    0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

pub(crate) fn picture() -> Blob {
    Blob::from(PNG.to_vec())
}

pub(crate) fn text(uri: &str, mime_type: &str, text: &str) -> Content {
    Content::Resource {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text: Some(text.to_owned()),
        data: None,
    }
}

/// Offers the suite's resources.
pub(crate) struct Fixture(watch::Sender<Option<String>>);

impl Fixture {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(None))
    }
}

#[async_trait]
impl Resources for Fixture {
    fn list(&self, _caller: &Caller) -> Vec<Content> {
        let link = |uri: &str, name: &str, mime_type: &str| Content::ResourceLink {
            uri: uri.to_owned(),
            name: name.to_owned(),
            mime_type: Some(mime_type.to_owned()),
            size: None,
        };
        vec![
            link("test://static-text", "Static text", "text/plain"),
            link("test://static-binary", "Static picture", "image/png"),
            link("test://watched-resource", "Watched resource", "text/plain"),
        ]
    }

    fn templates(&self, _caller: &Caller) -> Vec<ListedTemplate> {
        vec![ListedTemplate::new("test://template/{id}/data", "Template")]
    }

    async fn read(&self, uri: &str, _client: &CallingClient) -> Result<Option<Vec<Content>>, String> {
        let content = match uri {
            "test://static-text" => {
                text(uri, "text/plain", "This is the content of the static text resource.")
            }
            "test://static-binary" => Content::Resource {
                uri: uri.to_owned(),
                mime_type: Some("image/png".to_owned()),
                text: None,
                data: Some(picture()),
            },
            "test://watched-resource" => text(uri, "text/plain", "Watched resource content."),
            _ => {
                let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
                let Some(id) = id else { return Ok(None) };
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                text(uri, "application/json", &data.to_string())
            }
        };
        Ok(Some(vec![content]))
    }

    fn changes(&self) -> watch::Receiver<Option<String>> {
        self.0.subscribe()
    }
}
