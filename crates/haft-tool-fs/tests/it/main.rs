//! What the file tools do, seen through the executor.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

mod accesses;
mod attacks;
mod cases;
#[cfg(all(feature = "notebooks", feature = "pdf"))]
mod documents;
mod drifting;
mod editing;
mod encodings;
mod fixture;
#[cfg(feature = "manage")]
mod hints;
#[cfg(feature = "images")]
mod images;
mod line_ends;
mod listing;
#[cfg(feature = "manage")]
mod managing;
mod mutated_edits;
mod mutation;
mod reading;
mod renaming;
mod roots;
mod specs;
mod undoing;
mod writing;
