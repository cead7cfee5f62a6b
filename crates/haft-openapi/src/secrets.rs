//! Where the keys of an API are sent, which no model is to know.

use crate::lower::Pointed;
use crate::plan::Place;
use crate::store::{At, Store};
use serde_json::Value;
use std::collections::HashMap;

/// The most schemes of a document that are looked at.
const MOST: usize = 10_000;

/// The most ways to be let in that are looked at of an operation, and schemes of each.
const MOST_WAYS: usize = 32;

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
        let root = store.root();
        let schemes = root.value.get("components").and_then(|components| components.get("securitySchemes"));
        let schemes = schemes.or_else(|| root.value.get("securityDefinitions")).and_then(Value::as_object);
        let mut secrets = Self::default();
        for (scheme, stated) in schemes.into_iter().flatten().take(MOST) {
            let Ok(at) = store.follow(At { file: root.file, value: stated }) else { continue };
            let text = |member: &str| at.value.get(member).and_then(Value::as_str);
            if let (Some("apiKey"), Some(place), Some(name)) =
                (text("type"), text("in").and_then(Place::parse), text("name"))
            {
                secrets.folded.insert((place, same_name(name)), name.to_owned());
                secrets.schemes.entry((place, exact(place, name))).or_default().push(scheme.clone());
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
        let Some(security) = operation.get("security").or_else(|| root.get("security")) else { return true };
        let mut ways = security.as_array().into_iter().flatten().take(MOST_WAYS).filter_map(Value::as_object);
        ways.any(|way| way.keys().take(MOST_WAYS).any(|scheme| schemes.contains(scheme)))
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
