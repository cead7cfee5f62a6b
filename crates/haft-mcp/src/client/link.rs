//! Connections that carry one JSON text a line: what is read and written, and how it ends. Knows nothing of what is said.

mod ending;
mod framed;
mod tail;

#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod stdio;
#[cfg(unix)]
mod unix;

pub(crate) use crate::lines::{Found, TopLevel};
pub(crate) use ending::Ending;
pub(crate) use framed::Framed;
#[cfg(unix)]
pub(crate) use stdio::start;
#[cfg(unix)]
pub(crate) use unix::connect;
