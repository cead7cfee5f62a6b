//! Places of their own for children, and what comes back from them.

#![expect(clippy::unwrap_used, reason = "what a test is made of may fail as the test may")]

mod applying;
mod attacks;
mod cleaning;
mod fixture;
mod kinds_of_changes;
mod kinds_of_repositories;
mod sending;
