use haft_core::ToolName;
use haft_model::ModelRequest;

/// Says whether a model may, must or must not call tools in a turn that offers some.
///
/// A model that has to answer by a tool, and what its service is asked then:
///
/// ```
/// # #[cfg(not(feature = "anthropic"))]
/// # fn main() {}
/// # #[cfg(feature = "anthropic")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use haft_core::{Message, Schema, ToolSpec};
/// # use haft_http::{AddressPolicy, HttpClient};
/// # use haft_model::{Model as _, ModelCapabilities, ModelRequest};
/// use haft_providers::{AnthropicModel, ToolChoice};
/// # use haft_providers::Service;
/// use serde_json::json;
/// # use serde_json::Value;
/// # use std::io::{Error, ErrorKind, Read as _, Write as _};
/// # use std::sync::Arc;
/// #
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let http = HttpClient::new(AddressPolicy::public().loopback())?;
/// # let service = Service::new(http, &format!("http://{}/v1", listener.local_addr()?))?;
/// # let server = std::thread::spawn(move || -> std::io::Result<Value> {
/// #     let (mut stream, _) = listener.accept()?;
/// #     let (mut request, mut piece) = (Vec::new(), [0; 4096]);
/// #     loop {
/// #         let length = stream.read(&mut piece)?;
/// #         request.extend_from_slice(&piece[..length]);
/// #         let text = String::from_utf8_lossy(&request);
/// #         let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
/// #         match body {
/// #             Some(body) => {
/// #                 stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")?;
/// #                 return Ok(body);
/// #             }
/// #             None if length == 0 => return Err(Error::from(ErrorKind::UnexpectedEof)),
/// #             None => {}
/// #         }
/// #     }
/// # });
/// # let capabilities = ModelCapabilities::new("test-model").parallel_tool_calls();
/// # let spec = ToolSpec::new("answer".parse()?, "Gives the answer.", Schema::empty());
/// # let request = ModelRequest::new([Message::user("Go on.")]).tools([Arc::new(spec)]);
/// let model = AnthropicModel::new(service, capabilities).tool_choice(ToolChoice::Tool("answer".parse()?));
/// # assert!(model.stream(request, Default::default()).await.is_err());
/// # let body = server.join().expect("the server ends")?;
/// assert_eq!(body["tool_choice"], json!({ "type": "tool", "name": "answer" }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It calls at least one.
    Required,
    /// It calls none; they stay in the request, so that what is cached of it stays valid.
    None,
    /// It calls this one.
    Tool(ToolName),
}

impl ToolChoice {
    /// What holds for a request: one that lets the model make no calls has the last word.
    pub(crate) fn of(&self, request: &ModelRequest) -> &Self {
        if request.without_calls { &Self::None } else { self }
    }
}
