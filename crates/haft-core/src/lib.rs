//! The vocabulary that a model adapter and a tool must agree on.
//!
//! A [`ToolSpec`] tells a model what a tool is called, what it does and which arguments it takes. The model answers
//! with [`ToolCall`]s; each is answered by exactly one [`ToolReply`], which carries the tool's [`ToolOutput`] or what
//! kept it from running. Both travel in [`Message`]s, and whatever happens in between is told to observers as
//! [`Event`]s. Nothing here performs IO or needs a runtime: every type is plain data with a stable serde form.
//!
//! Two rules run through the crate:
//!
//! - **Names are parsed once.** [`ToolName`], [`CallId`] and [`RunId`] cannot hold an invalid value; a foreign name is
//!   turned into a valid one by [`ToolName::project`] and kept, as it was, in [`Origin`].
//! - **Two readers.** [`ToolError`] carries a text written for the model and, apart from it, the cause for the host.
//!
//! ```
//! use haft_core::{Schema, ToolHints, ToolSpec};
//! use serde_json::json;
//!
//! let input = Schema::new(json!({
//!     "type": "object",
//!     "properties": { "city": { "type": "string" } },
//!     "required": ["city"],
//! }))?;
//! let spec = ToolSpec::new("weather".parse()?, "Tells the weather in a city.", input)
//!     .with_hints(ToolHints { read_only: true, open_world: true, ..ToolHints::default() });
//! assert_eq!(spec.name().as_str(), "weather");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blob;
mod call;
mod causes;
mod content;
mod decision;
mod digest;
mod error;
mod event;
mod id;
mod message;
mod name;
mod namespace;
mod origin;
mod output;
mod present;
mod reply;
mod schema;
mod spec;
mod usage;
mod visible;

pub use blob::Blob;
pub use call::ToolCall;
pub use causes::with_causes;
pub use content::Content;
pub use decision::Decision;
pub use digest::{Digest, DigestError};
pub use error::{ToolError, ToolErrorKind};
pub use event::{BudgetKind, Event, EventKind, Progress, StopReason};
pub use id::{CallId, IdError, OutputId, RunId};
pub use message::{AssistantPart, Message};
pub use name::{NameError, ToolName};
pub use namespace::namespace;
pub use origin::Origin;
pub use output::ToolOutput;
pub use reply::{ErrorKind, Repair, ReplyStatus, ToolReply, Truncation};
pub use schema::{Schema, SchemaError};
pub use spec::{Exposure, ToolHints, ToolSpec};
pub use usage::Usage;
pub use visible::{Visible, is_hidden};
