//! OpenAI's two ways to ask a model, and what speaks like them.

mod chat;
mod responses;
mod tools;

pub use chat::{OpenAiChatModel, TokenLimit};
pub use responses::OpenAiResponsesModel;
