//! Calls of operations over real connections, to servers that are honest and to others.
#![expect(clippy::unwrap_used, reason = "what cannot be made fails the test")]

mod auth;
mod executor;
mod fixture;
mod hostile;
mod oauth;
mod pages;
mod replies;
mod requests;
mod secrets;
