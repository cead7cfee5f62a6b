//! Counts the words of a text.
//!
//! ```
//! let tally = tally::Tally::of("the cat and the dog");
//! assert_eq!(tally.count("the"), 2);
//! ```

mod tally;
mod words;

pub use tally::Tally;
