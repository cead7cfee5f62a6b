mod approver;
mod pending;
mod policy;
mod syntax;

pub use approver::{AllowAll, Approval, Approver, DenyAll, approver_fn};
pub use pending::PendingCall;
pub(crate) use pending::call_digest;
pub use policy::{Policy, Rule, Verdict};
pub use syntax::{PatternError, PatternSet, PatternSyntax};
