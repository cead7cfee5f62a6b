//! The model contract: a request, a stream of deltas, and models that play or record a session.
//!
//! A [`Model`] takes a [`ModelRequest`] (the transcript, the tools and a few limits) and answers with a
//! [`DeltaStream`]: pieces of text and reasoning, pieces of tool calls, what the turn cost and why it ended.
//! [`assemble`] puts the pieces together into a [`ModelTurn`], and shows each of them to an observer on the way, which
//! is how a host prints text while the model still writes. It is strict: a stream that ends early is
//! [`ModelError::Truncated`] and one that contradicts itself is [`ModelError::Protocol`], so whoever runs the turn
//! never acts on half of an answer. [`Assembler`] is the same without the stream.
//!
//! A [`Dialect`] writes a tool's schema as a provider takes it, and lists what could not be said. Beside that, nothing
//! here knows a provider, a tool or a loop. An adapter for a provider needs this crate and `haft-core`; so does
//! whatever drives the model.
//!
//! # Sessions
//!
//! A [`Session`] is a file of model turns, one JSON object a line:
//!
//! ```json
//! {"text": "I look around first.", "calls": [{"id": "c1", "name": "glob", "input": {"pattern": "src/*.rs"}}]}
//! {"text": "There is one file.", "usage": {"input": 310, "output": 9}, "after": {"c1": "ok"}}
//! ```
//!
//! [`RecordingModel`] wraps any model and writes such a file; [`ScriptedModel`] plays it, without a network and with the
//! same result every time. It plays to real tools, so it also checks what came back: every call answered exactly once
//! and in order, the transcript unchanged, and, where `after` says how the replies ended when the session was recorded,
//! that they ended the same way. What differs is told in a [`DivergenceError`] made to be read by a person.
//!
//! A session holds what the model said, and not what it was told: neither the replies nor the requests are in it. It
//! joins the text of a turn into one, which goes before its calls, and leaves out what providers want back word for
//! word, so it is no store to resume a run from.
//!
//! ```
//! use haft_core::{Message, ReplyStatus, ToolOutput, ToolReply};
//! use haft_model::{Model, ModelRequest, ScriptedModel, Session, assemble};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::parse(
//!     r#"{"calls": [{"id": "c1", "name": "glob", "input": {"pattern": "src/*.rs"}}]}
//!        {"text": "There is one file.", "after": {"c1": "ok"}}"#,
//!     "look-around.jsonl",
//! )?;
//! let model = ScriptedModel::new(session);
//! let mut transcript = vec![Message::user("What is in src?")];
//!
//! let request = ModelRequest::new(transcript.clone());
//! let turn = assemble(model.stream(request, CancellationToken::new()).await?, |_| {}).await?;
//! let replies = turn
//!     .message
//!     .tool_calls()
//!     .map(|call| {
//!         let output = ToolOutput::text("src/lib.rs");
//!         ToolReply::new(call.id.clone(), call.name.as_str(), ReplyStatus::Ok, output)
//!     })
//!     .collect();
//! transcript.push(turn.message);
//! transcript.push(Message::Tool { replies });
//!
//! let request = ModelRequest::new(transcript);
//! let turn = assemble(model.stream(request, CancellationToken::new()).await?, |_| {}).await?;
//! assert_eq!(turn.message.assistant_text(), "There is one file.");
//! assert_eq!(model.remaining(), 0);
//! # Ok(())
//! # }
//! ```

mod arguments;
mod assemble;
mod capabilities;
mod delta;
mod dialect;
mod divergence;
mod error;
mod model;
mod recording;
mod request;
mod retry_observer;
mod scripted;
mod session;
mod stream;

pub use assemble::{Assembler, ModelTurn, assemble};
pub use capabilities::ModelCapabilities;
pub use delta::Delta;
pub use dialect::{Dialect, Loss, LossKind, NotStrictError, NotStrictReason, Projection};
pub use divergence::{DivergenceError, DivergenceKind};
pub use error::{ModelError, ProtocolError};
pub use model::Model;
pub use recording::RecordingModel;
pub use request::ModelRequest;
pub use retry_observer::RetryObserver;
pub use scripted::ScriptedModel;
pub use session::{Session, SessionError, SessionTurn, TurnProblem};
pub use stream::DeltaStream;
