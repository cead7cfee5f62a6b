//! What the crate promises, from the outside.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod abandoned;
mod accesses;
mod approvals;
mod bad_input;
mod cancelling;
mod catalog;
mod catalog_sources;
mod clocks;
mod corpus;
mod events;
mod fixture;
mod grants;
mod held;
mod journal;
mod journaling;
mod layers;
mod made_by;
mod nested;
mod ordering;
mod outputs;
mod pipeline;
mod policy;
mod questions;
mod read_output;
mod registering;
mod registry;
mod requesting_modes;
mod resources;
mod resuming;
mod retrying;
mod run_tools;
mod schemas;
mod secrets;
mod selector;
mod spans;
mod steering;
mod streams;
mod typed;
mod widths;
