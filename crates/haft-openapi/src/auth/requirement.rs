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
        let ways = security.and_then(Value::as_array).into_iter().flatten();
        let ways = ways.take(MOST).map(|way| {
            let schemes = way.as_object().into_iter().flatten().take(MOST);
            let schemes = schemes.map(|(scheme, scopes)| {
                let scopes = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
                SchemeUse { scheme: scheme.clone(), scopes: scopes.map(str::to_owned).collect() }
            });
            schemes.collect()
        });
        Self { ways: ways.collect() }
    }

    /// Tells whether nothing need be shown.
    pub(crate) fn is_optional(&self) -> bool {
        self.ways.is_empty() || self.ways.iter().any(Vec::is_empty)
    }
}
