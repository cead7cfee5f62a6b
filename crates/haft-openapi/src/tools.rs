//! Operations as tools that make requests.

mod access;
mod builder;
mod call;
mod limits;
mod open_api_tools;
mod operation_tool;
mod preview;
mod send;
mod usable_schema;

pub use builder::OpenApiToolsBuilder;
pub use limits::OperationLimits;
pub use open_api_tools::OpenApiTools;
pub(crate) use open_api_tools::Shared;
pub(crate) use operation_tool::Inner;
pub(crate) use send::unanswered;
