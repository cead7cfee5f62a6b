//! What the tool `bash` does, with a real bash.

#![cfg(unix)]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod attacks;
mod contract;
mod corpus;
mod deciding;
mod ending;
mod given_input;
mod harness;
mod held_clock;
mod hostile;
mod job_text;
mod jobs;
mod last_directory;
mod oracle;
mod output;
mod pages;
mod program;
mod promptly;
mod read_only;
#[cfg(all(target_os = "linux", feature = "sandbox"))]
mod sandbox;
mod stopping;
mod surroundings;
mod terminal;
mod understood;
mod withheld;
