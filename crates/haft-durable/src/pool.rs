use haft_core::ToolSpec;
use haft_tools_core::{Selector, ToolRegistry};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::str::FromStr;

/// Names a pool of workers that have the same tools: 1 to 64 letters, digits, dashes, dots and underscores, a letter first.
///
/// ```
/// use haft_durable::Pool;
///
/// assert_eq!("browsers".parse::<Pool>()?.as_str(), "browsers");
/// assert!("a/b".parse::<Pool>().is_err());
/// # Ok::<(), haft_durable::PoolError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Pool(Box<str>);

/// Says that a text does not name a pool.
///
/// ```
/// use haft_durable::Pool;
///
/// let error = "2nd pool".parse::<Pool>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`2nd pool` does not name a pool of workers; write 1 to 64 letters, digits, dashes, dots and underscores, \
///      a letter first"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` does not name a pool of workers; write 1 to 64 letters, digits, dashes, dots and underscores, a letter first"
)]
pub struct PoolError {
    text: String,
}

/// Says which pool makes the calls of some tools.
#[derive(Debug, Clone, PartialEq)]
struct Route {
    tools: Selector,
    pool: Pool,
}

/// Says which pool of workers makes which calls: the first route that matches counts, and all others are made by one pool.
///
/// A route that is to count goes ahead of a wider one. A tool is known by the registry of the calls; one that is not there goes to the pool for all others. So tools of two versions
/// stand side by side: each version of a tool has a pool of its own, and a client that learns of the new one routes to it,
/// while calls that wait are gone on with where they wait.
///
/// ```
/// use haft_core::{Schema, ToolSpec};
/// use haft_durable::Routes;
///
/// let routes = Routes::to("tools".parse()?)
///     .and("browse_page".parse()?, "browsers-2".parse()?)
///     .and("browse_*".parse()?, "browsers".parse()?);
/// let page = ToolSpec::new("browse_page".parse()?, "Browses.", Schema::empty());
/// let back = ToolSpec::new("browse_back".parse()?, "Goes back.", Schema::empty());
/// assert_eq!(routes.pool_of(Some(&page)).as_str(), "browsers-2");
/// assert_eq!(routes.pool_of(Some(&back)).as_str(), "browsers");
/// assert_eq!(routes.pool_of(None).as_str(), "tools");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Routes {
    routes: Vec<Route>,
    others: Pool,
}

impl Pool {
    /// Borrows the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Pool {
    type Err = PoolError;

    fn from_str(text: &str) -> Result<Self, PoolError> {
        let is_named = text.len() <= 64
            && text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if is_named {
            Ok(Self(text.into()))
        } else {
            Err(PoolError { text: text.chars().take(80).collect() })
        }
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Pool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Routes {
    /// Has one pool make all calls.
    pub fn to(pool: Pool) -> Self {
        Self { routes: Vec::new(), others: pool }
    }

    /// Has a pool make the calls of the tools that no route before concerns.
    pub fn and(mut self, tools: Selector, pool: Pool) -> Self {
        self.routes.push(Route { tools, pool });
        self
    }

    /// Finds the pool of a tool; without one, as for a name that is not known, that of all others.
    pub fn pool_of(&self, tool: Option<&ToolSpec>) -> &Pool {
        let route = tool.and_then(|tool| self.routes.iter().find(|route| route.tools.concerns(tool)));
        route.map_or(&self.others, |route| &route.pool)
    }

    /// Finds the pool of a tool by the name that a call has.
    pub fn pool_in(&self, registry: Option<&ToolRegistry>, name: &str) -> &Pool {
        self.pool_of(registry.and_then(|registry| registry.get(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_can_stand_anywhere() {
        for text in ["", "1a", "-a", "a b", "a/b", "ä", &"a".repeat(65)] {
            assert!(text.parse::<Pool>().is_err(), "{text}");
        }
        for text in ["a", "tools-2.1_x", &"a".repeat(64)] {
            assert_eq!(text.parse::<Pool>().unwrap().as_str(), text);
        }
    }
}
