//! Connections to a real program, which does what servers should not.

mod answers;
mod endings;
mod eras;
mod sockets;
mod stage;
mod watching;
