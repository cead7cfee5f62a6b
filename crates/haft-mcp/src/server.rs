//! The registry turned outwards: any client of the protocol, of either era, is served the tools of a host.
//!
//! What speaks the protocol is below `rmcp_service`; what a call goes through, with its approvals and questions, is below
//! `calls`; the HTTP around it below `front`; and which tools are served by which name below `catalog`.

mod ask;
mod authenticator;
mod caller;
mod calls;
mod line;
mod offers;
mod rmcp_service;
mod round;
mod toolbox;

pub use ask::{Ask, AskKind, LogLevel, Unasked};
pub use authenticator::{Authenticator, Denied};
pub use caller::{Abilities, Ability, Caller, Principal};
pub use offers::{PromptRole, Prompts, Resources, ServedPrompt};
pub use toolbox::{Bench, CallingClient, Toolbox};
