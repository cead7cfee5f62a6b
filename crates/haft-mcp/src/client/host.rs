//! What servers have besides tools: resources and prompts, for the host and, where it wants that, for the model.

mod list;
mod prompts;
mod request_error;
mod requester;
mod resource_tools;
mod resources;
mod server_content;

pub use list::ServerList;
pub use prompts::{Completion, CompletionOf, ListedPrompt, PromptText};
pub use request_error::ServerRequestError;
pub(crate) use requester::Requester;
pub(crate) use resource_tools::resource_tools;
pub use resources::{ListedResource, ResourceWatch};
pub use server_content::ServerContent;
