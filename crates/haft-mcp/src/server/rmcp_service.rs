//! What speaks the protocol, with rmcp.

pub(crate) mod seal;
