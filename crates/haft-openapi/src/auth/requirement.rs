use crate::lower::Pointed;
use serde_json::Value;

/// The most ways and schemes that are looked at of what one operation wants.
const MOST: usize = 32;

/// Is what an operation wants to be shown: everything of one of these ways. Without any way it wants nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) ways: Vec<Vec<SchemeUse>>,
}

/// Is a scheme, and what of it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemeUse {
    pub(crate) scheme: String,
    pub(crate) scopes: Vec<String>,
}

impl Requirement {
    /// Reads what an operation wants; what it says stands in place of what the document says for all.
    pub(crate) fn of(root: &Pointed<'_>, operation: &Pointed<'_>) -> Self {
        let security = operation.get("security").or_else(|| root.get("security"));
        let ways = match security {
            Some(Value::Array(ways)) => &ways[..],
            // Some forget the list around it.
            Some(way @ Value::Object(_)) => std::slice::from_ref(way),
            _ => &[],
        };
        let ways = ways.iter().take(MOST).filter_map(way);
        Self { ways: ways.collect() }
    }

    /// Tells whether nothing need be shown.
    pub(crate) fn is_optional(&self) -> bool {
        self.ways.is_empty() || self.ways.iter().any(Vec::is_empty)
    }
}

/// Reads one of the ways; nothing where it is none.
fn way(way: &Value) -> Option<Vec<SchemeUse>> {
    match way {
        Value::Object(schemes) => {
            let schemes = schemes.iter().take(MOST).map(|(scheme, scopes)| {
                let scopes = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
                SchemeUse { scheme: scheme.clone(), scopes: scopes.map(str::to_owned).collect() }
            });
            Some(schemes.collect())
        }
        // Some name the scheme alone.
        Value::String(scheme) => Some(vec![SchemeUse { scheme: scheme.clone(), scopes: Vec::new() }]),
        _ => None,
    }
}
