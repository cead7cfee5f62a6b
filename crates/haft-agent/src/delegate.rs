//! The tool `delegate`, as models know it: what they are told of it, how its calls are read, and what these are answered with.
//! Who begins the runs, and where, is for those that make a tool of it.

mod delegate_agents;
mod delegate_call;
mod delegate_end;

pub use delegate_agents::DelegateAgents;
pub use delegate_call::{DelegateCall, DelegateTask};
pub use delegate_end::DelegateEnd;
