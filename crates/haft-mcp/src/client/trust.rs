//! Which tools of a server may be called: those that were accepted, as they were then.

mod file_pins;
mod identity;
mod judge;
mod memory_pins;
mod pin_store;
mod quarantined_tool;
mod server_pins;

pub use file_pins::FilePins;
pub use identity::ServerIdentity;
pub(crate) use judge::{Judge, ListedTool, PinJudge, Verdict};
pub use memory_pins::MemoryPins;
pub use pin_store::{PinError, PinStore};
pub use quarantined_tool::QuarantinedTool;
pub use server_pins::{AcceptedTool, ServerPins, WaitingTool};
