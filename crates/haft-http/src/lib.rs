//! Hosts and patterns of them, and a client that asks before it connects.
//!
//! The crate has two halves. Without features it knows what hosts are, for rules about them: [`Host`], [`Endpoint`],
//! [`HostPattern`] and [`HostPatternSet`]. With the feature `client` it makes requests under such rules: an `HttpClient` has an
//! `AddressPolicy`, sends what an `Exchange` bounds, and gives a `Body`. `Endpoint::of_url` joins them: it tells which endpoint a
//! request connects to.
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
//! With the feature `client`, an `HttpClient` makes requests: its `AddressPolicy` is asked with the address that is really
//! connected to, an `Exchange` bounds what one request may take and says what may be done for it (`Redirects`, `Retries`,
//! decompression), and a `Body` is read as it comes. `Endpoint::of_url` tells what a request connects to before it is made,
//! and `RedactedRequest` shows it without its secrets.
//!
//! # What it does not do
//!
//! - A pattern does not say where a *name* leads: one for `10.0.0.0/8` does not meet a name that resolves to such an
//!   address. The client's address policy does.
//! - The client keeps no cookies and no answers, and knows no `brotli` and no `zstd`: what they need to decompress is up to
//!   the answer.

#[cfg(feature = "client")]
mod address_policy;
#[cfg(feature = "client")]
mod body;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod clock;
#[cfg(feature = "client")]
mod content_type;
mod endpoint;
#[cfg(feature = "client")]
mod endpoint_of_url;
#[cfg(feature = "client")]
mod error;
#[cfg(feature = "client")]
mod exchange;
mod host;
mod host_pattern;
mod host_pattern_set;
#[cfg(feature = "client")]
mod redacted;
#[cfg(feature = "client")]
mod retries;
#[cfg(feature = "client")]
mod retry_after;
#[cfg(feature = "client")]
mod sniffed;

#[cfg(feature = "client")]
pub use address_policy::AddressPolicy;
#[cfg(feature = "client")]
pub use body::Body;
#[cfg(feature = "client")]
pub use client::{HttpClient, HttpClientBuilder, redirect_target};
#[cfg(feature = "client")]
pub use content_type::ContentType;
pub use endpoint::{Endpoint, EndpointError};
#[cfg(feature = "client")]
pub use error::Error;
#[cfg(feature = "client")]
pub use exchange::{Exchange, Redirects};
pub use host::{Host, HostError};
pub use host_pattern::{HostPattern, HostPatternError};
pub use host_pattern_set::HostPatternSet;
#[cfg(feature = "client")]
pub use redacted::RedactedRequest;
#[cfg(feature = "client")]
pub use retries::Retries;
#[cfg(feature = "client")]
pub use retry_after::retry_after;
#[cfg(feature = "client")]
pub use sniffed::Sniffed;
