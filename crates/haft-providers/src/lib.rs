//! Models of providers: Anthropic's Messages API, OpenAI's Chat Completions and Responses APIs, and what speaks like them.
//!
//! A [`Service`] says where a service is and as whom it is asked. An [`AnthropicModel`], [`OpenAiChatModel`] or
//! [`OpenAiResponsesModel`] is a `haft_model::Model` that asks it: it writes the transcript as the service takes it, and
//! gives the answer as deltas while the model still writes. With a base URL and headers, the second of them serves vLLM,
//! Ollama, llama.cpp, `OpenRouter`, `DeepSeek`, Groq, Mistral, xAI, Azure and Gemini's compatible endpoint. For what none of
//! them can speak to, `GenaiModel` asks by an adapter of the crate `genai`: Gemini's own API, Ollama's, Bedrock's and others.
//!
//! ```no_run
//! # // Not run: it would ask a service of the internet, and be billed.
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use haft_core::Message;
//! use haft_http::{AddressPolicy, HttpClient};
//! use haft_model::{Delta, Model as _, ModelCapabilities, ModelRequest, assemble};
//! use haft_providers::{AnthropicModel, ApiKey, Service};
//! use tokio_util::sync::CancellationToken;
//!
//! let key = "…"; // The host knows where its keys are: nothing here reads the environment or a file.
//! let http = HttpClient::new(AddressPolicy::public())?;
//! let service = Service::anthropic(http, ApiKey::new(key)?);
//! let capabilities = ModelCapabilities::new("claude-opus-5-5").images().parallel_tool_calls();
//! let model = AnthropicModel::new(service, capabilities);
//!
//! let request = ModelRequest::new([Message::user("What is a haft?")]).max_output_tokens(1000);
//! let stream = model.stream(request, CancellationToken::new()).await?;
//! let turn = assemble(stream, |delta| {
//!     if let Delta::Text(text) = delta {
//!         // Shown while the model writes.
//!         let _ = text;
//!     }
//! })
//! .await?;
//! assert!(turn.usage.output > 0);
//! # Ok(())
//! # }
//! ```
//!
//! # What holds for all of them
//!
//! - **Nothing of a transcript is dropped.** What a wire format cannot carry is written in another place of the request, or
//!   is a note such as `[sound, audio/wav, 812 bytes: not shown, since this model cannot read it]`. Arguments that were not
//!   JSON are given back as `{"unparsed_arguments": "…"}`, and names and ids that a service refuses are written otherwise,
//!   the same way every time, and read back.
//! - **Reasoning goes back word for word** to the wire format it came from, with its signature or encrypted as it came. To
//!   another one it goes as text that says what it is.
//! - **Half a turn is no turn.** An answer that ends without the event that ends it is `ModelError::Truncated`; one that
//!   contradicts itself is `ModelError::Protocol`. Errors that come within an answer end it.
//! - **Requests are repeated** as a [`Patience`] says, and only while nothing of an answer has come. `Retry-After` is kept to.
//!   What is not repeated, or was in vain, tells whether and when it can be.
//! - **Keys stay where they are.** No `Debug`, error or log shows an [`ApiKey`], not even one that a service repeats. What a
//!   service says when it fails is told in at most 600 bytes, with the next step.
//! - **Everything is bounded**: what one event and one answer may have, how long an answer may stand still, how often and how
//!   long is waited.
//!
//! # What was tried, and what was not
//!
//! Nothing of this was tried against a live service. It is written from the documentation of the services, and tested
//! against a server on this machine that sends answers in the documented form: in pieces of any size, cut off at every event,
//! standing still, breaking off, with errors ahead of an answer and within it. The requests and the answers of these tests
//! were held against the types of the services' own Python libraries, `anthropic` 2.12 and `openai` 3.54: they fit, but for
//! `temperature`, which Anthropic's newest version no longer has, and for the answers that are odd on purpose. By hand, all
//! three models took turns with text and calls through the gateway `LiteLLM` 1.106, ahead of a server with fixed answers, the
//! one for Responses with reasoning, too. What this cannot tell is where a service differs from its documentation. None of
//! vLLM, Ollama, llama.cpp, Azure, `OpenRouter`, `DeepSeek` or Gemini was run: what is theirs (`reasoning_content`,
//! `reasoning_details`, thought signatures, the number 0 for every call) is read and given back as they document it. Of the
//! adapters of `genai`, those for Gemini, Ollama and Groq are tested whole in the same way, and of all others only that they
//! leave nothing of a transcript out.
//!
//! # What it does not do
//!
//! - It knows no list of models: the host says what a model can by `ModelCapabilities`, and what a provider charges for is
//!   the host's to know.
//! - Tools that a provider runs itself are not offered. Where a service runs some all the same, their blocks are kept and
//!   given back; a turn that is paused for them (`pause_turn`) is refused.
//! - It reads events more strictly than the standard of server-sent events asks: lines of fields that this does not name, or
//!   without a colon, a `retry` that is no number and a second `event`, `id` or `retry` of one event are refused, since they
//!   are what is seen where something else than a service of models answers.
//! - It reads events by `sse-stream`, as `haft-mcp` does, and not by `eventsource-stream`: a program has one reader of them.
//! - It does not take types from `async-openai`: they refuse events and lose members that they do not know, such as
//!   `reasoning_content`, and what a provider wants back has to come back whole.
//!
//! # Features
//!
//! None is on by default. `anthropic` has [`AnthropicModel`], `openai` has [`OpenAiChatModel`] and
//! [`OpenAiResponsesModel`]. `genai` has `GenaiModel`; it is for programs that need it, and no part of what others bring with
//! them, since it has `serde_json` keep the members of every object of a program in the order in which they were written
//! (`serde_json/preserve_order`), and reads answers without a bound on their memory. Nothing here depends on that order.

#![cfg_attr(
    not(any(feature = "anthropic", feature = "genai", feature = "openai")),
    allow(dead_code, reason = "what the models are made of is used by none of them then")
)]

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod asking;
#[cfg(feature = "wire")]
mod calls;
#[cfg(feature = "wire")]
mod complaint;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod events;
#[cfg(any(feature = "genai", feature = "openai"))]
mod function;
#[cfg(feature = "genai")]
mod genai;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod held;
#[cfg(feature = "wire")]
mod insist;
#[cfg(feature = "wire")]
mod kept;
#[cfg(feature = "wire")]
mod key;
#[cfg(feature = "wire")]
mod names;
#[cfg(feature = "openai")]
mod openai;
#[cfg(feature = "wire")]
mod patience;
#[cfg(feature = "wire")]
mod piece;
#[cfg(feature = "wire")]
mod redaction;
#[cfg(feature = "wire")]
mod retry_after;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod service;
#[cfg(feature = "wire")]
mod service_error;
#[cfg(feature = "wire")]
mod tool_choice;
#[cfg(feature = "wire")]
mod turn;

#[cfg(feature = "genai")]
pub use self::genai::GenaiModel;
#[cfg(feature = "anthropic")]
pub use anthropic::{AnthropicModel, CacheLifetime, Thinking};
#[cfg(feature = "wire")]
pub use key::ApiKey;
#[cfg(feature = "openai")]
pub use openai::{OpenAiChatModel, OpenAiResponsesModel, TokenLimit};
#[cfg(feature = "wire")]
pub use patience::Patience;
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub use service::Service;
#[cfg(feature = "wire")]
pub use service_error::ServiceError;
#[cfg(feature = "wire")]
pub use tool_choice::ToolChoice;
