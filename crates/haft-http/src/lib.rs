//! Hosts, ports, and patterns of them.
//!
//! What a rule forbids must not be reached by writing it another way, so a [`Host`] exists in one spelling only: lower
//! case, ASCII (internationalised names in Punycode), without a dot at the end, addresses as numbers however they were
//! written. An [`Endpoint`] is a host and a port. A [`HostPattern`] means hosts, and a [`HostPatternSet`] finds the first
//! of many patterns at a cost that does not depend on how many there are.
//!
//! ```
//! use haft_http::{Endpoint, HostPattern, HostPatternSet};
//!
//! let patterns = ["api.github.com", "*.example.org:8443", "10.0.0.0/8:*"];
//! let patterns: Vec<HostPattern> = patterns.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
//! let set = HostPatternSet::new(patterns);
//!
//! let endpoint: Endpoint = "API.GitHub.com.:443".parse()?;
//! assert_eq!(endpoint.to_string(), "api.github.com:443");
//! assert_eq!(set.first_containing(&endpoint), Some(0));
//! assert_eq!(set.first_containing(&"0xa.1:22".parse()?), Some(2));
//! assert_eq!(set.first_containing(&"example.org:8443".parse()?), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//!
//! - It makes no requests. The guarded client, whose policy looks at the addresses that are really connected to, is not
//!   here yet, and so nothing here says where a *name* leads: a pattern for `10.0.0.0/8` does not meet a name that
//!   resolves to such an address.
//! - It knows no schemes, paths or users of URLs.

mod endpoint;
mod host;
mod host_pattern;
mod host_pattern_set;

pub use endpoint::{Endpoint, EndpointError};
pub use host::{Host, HostError};
pub use host_pattern::{HostPattern, HostPatternError};
pub use host_pattern_set::HostPatternSet;
