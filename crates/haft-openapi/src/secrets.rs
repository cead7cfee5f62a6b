//! Where the keys of an API are sent, which no model is to know.

use crate::auth::{Requirement, stated, stated_schemes};
use crate::lower::Pointed;
use crate::plan::Place;
use crate::store::Store;
use std::collections::HashMap;

/// Holds where the keys of an API are sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Secrets {
    /// The schemes that send a key there.
    schemes: HashMap<(Place, String), Vec<String>>,
    /// The same, by what servers may take the names for.
    folded: HashMap<(Place, String), String>,
}

impl Secrets {
    /// Reads the security schemes of a document.
    pub(crate) fn of(store: &Store) -> Self {
        let mut secrets = Self::default();
        for (scheme_name, scheme) in stated_schemes(store) {
            let text = |member: &str| stated(scheme?, member);
            if let (Some("apiKey"), Some(place), Some(name)) =
                (text("type"), text("in").and_then(Place::parse), text("name"))
            {
                secrets.folded.insert((place, same_name(name)), name.to_owned());
                secrets.schemes.entry((place, exact(place, name))).or_default().push(scheme_name.to_owned());
            }
        }
        secrets
    }

    /// Tells whether a parameter is where an operation wants a key. Where nothing says what it wants, it may want every one.
    pub(crate) fn has_key_at(
        &self,
        root: &Pointed<'_>,
        operation: &Pointed<'_>,
        place: Place,
        name: &str,
    ) -> bool {
        let Some(schemes) = self.schemes.get(&(place, exact(place, name))) else { return false };
        if operation.get("security").or_else(|| root.get("security")).is_none() {
            return true;
        }
        Requirement::of(root, operation).ways.iter().flatten().any(|wanted| schemes.contains(&wanted.scheme))
    }

    /// Tells whether a server may take a name for that of a key.
    pub(crate) fn is_like(&self, place: Place, name: &str) -> bool {
        !self.folded.is_empty() && self.folded.contains_key(&(place, same_name(name)))
    }
}

/// Writes a name as it is compared in its place.
fn exact(place: Place, name: &str) -> String {
    if place == Place::Header { name.to_ascii_lowercase() } else { name.to_owned() }
}

/// Writes a name so that all names which some server takes for one are alike.
///
/// Frameworks ignore the case of names (ASP.NET), read `_` for what cannot be in the name of a variable (PHP), take what stands
/// in brackets for a part of the value, or leave space around a name away.
pub(crate) fn same_name(name: &str) -> String {
    let name = name.trim_start_matches(|character: char| character.is_whitespace() || character == '[');
    let end = name.find(['[', '\0']).unwrap_or(name.len());
    let folded = name[..end].trim().chars().flat_map(char::to_lowercase);
    folded.map(|character| if character.is_alphanumeric() { character } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::same_name;

    #[test]
    fn names_that_a_server_may_take_for_one_are_alike() {
        for other in [
            "API_KEY",
            "api.key",
            "api key",
            " api_key ",
            "api_key[]",
            "api-key[x][y]",
            "[api_key",
            "api_key\0x",
        ] {
            assert_eq!(same_name(other), same_name("api_key"), "{other}");
        }
        assert_ne!(same_name("apikey"), same_name("api_key"));
    }
}
