//! The client seen from outside.
#![cfg(feature = "client")]

mod counterparts;
