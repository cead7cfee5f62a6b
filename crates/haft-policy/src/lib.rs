//! The rule language of permissions.
//!
//! A rule is written `mode(pattern)`, and what a pattern means is the business of a domain. Paths are known by the file
//! tools and commands by the shell; hosts are known by `haft-http`, which knows no tool and no rule. [`HostPatterns`] joins the
//! two: it reads the patterns of `connect(..)` rules.
//!
//! Policy files are not read here yet.

mod host_patterns;

pub use host_patterns::HostPatterns;
