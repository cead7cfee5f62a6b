//! What the crate promises, from the outside.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod attacks;
mod faults;
mod file_tests;
mod fixture;
mod hostile;
mod includes;
mod layering;
mod limits;
mod profiles;
