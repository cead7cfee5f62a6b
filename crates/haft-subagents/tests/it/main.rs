//! Delegation as a host and a model see it.

mod delegating;
mod fixture;
mod matrix;
