//! Models of providers.
#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod calls;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod complaint;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod events;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod kept;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod key;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod names;
#[cfg(feature = "openai")]
mod openai;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod patience;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod piece;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod redaction;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod retry_after;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod service;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod tool_choice;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod turn;

#[cfg(feature = "anthropic")]
pub use anthropic::{AnthropicModel, CacheLifetime, Thinking};
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub use key::ApiKey;
#[cfg(feature = "openai")]
pub use openai::{OpenAiChatModel, OpenAiResponsesModel, TokenLimit};
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub use patience::Patience;
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub use service::{Service, ServiceError};
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub use tool_choice::ToolChoice;
