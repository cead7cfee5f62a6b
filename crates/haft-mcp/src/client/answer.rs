//! What a server asks in its turn, and how it is answered: questions to a person, a model's turn, the directories of the
//! work.

mod elicitation;
mod form;
mod host_answers;
#[cfg(feature = "sampling")]
mod model_sampler;
mod roots;
mod sampling;
mod sampling_tool;

pub(crate) use host_answers::HostAnswers;
pub use host_answers::{McpEvent, McpEventKind, McpEvents};
#[cfg(feature = "sampling")]
pub use model_sampler::ModelSampler;
pub use roots::{Root, Roots};
pub use sampling::{Sampled, SampledStop, Sampler, SamplingRequest};
pub(crate) use sampling_tool::SamplingTool;

use crate::client::session::AskRefused;

/// The code of JSON-RPC for a method that is not there.
const NO_METHOD: i32 = -32_601;

/// The code of JSON-RPC for params that cannot be used.
const BAD_PARAMS: i32 = -32_602;

/// The code of JSON-RPC for what went wrong here.
const INTERNAL: i32 = -32_603;

/// The code of the protocol for what a person does not want.
const REJECTED: i32 = -1;

/// The most bytes of a reason that a server is told.
const MOST_REASON_BYTES: usize = 500;

fn refused(code: i32, message: impl Into<String>) -> AskRefused {
    AskRefused { code, message: message.into() }
}

#[cfg(test)]
mod tests;
