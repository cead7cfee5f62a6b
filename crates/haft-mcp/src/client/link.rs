//! Connections that carry one JSON text a line: what is read and written, and how it ends. Knows nothing of what is said.

mod ending;
mod framed;
mod lines;
mod tail;
mod top_level;

#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod stdio;
#[cfg(unix)]
mod unix;

pub(crate) use ending::Ending;
pub(crate) use framed::Framed;
pub(crate) use lines::Found;
#[cfg(unix)]
pub(crate) use stdio::start;
pub(crate) use top_level::TopLevel;
#[cfg(unix)]
pub(crate) use unix::connect;
