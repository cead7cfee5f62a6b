//! What the crate promises, from the outside.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod abandoned;
mod accesses;
mod approvals;
mod attended;
mod bad_input;
mod cancelling;
mod catalog;
mod catalog_sources;
mod clocks;
mod corpus;
mod events;
mod explanations;
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
mod patterns;
mod pipeline;
mod policy;
mod policy_agents;
mod policy_layers;
mod policy_modes;
mod private_files;
mod protected;
mod questions;
mod read_output;
mod registering;
mod registry;
mod requesting_modes;
mod resources;
mod resuming;
mod retrying;
mod rule_index;
mod rule_language;
mod run_tools;
mod schemas;
mod scope_modes;
mod secrets;
mod selector;
mod sifting;
mod spans;
mod steering;
mod streams;
mod typed;
mod unrelated_scopes;
mod waits_below;
mod widths;
