//! How values stand in a database.

use crate::DatabaseError;

/// Turns a number into one that a database can hold; what is larger is as good as never.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Turns a number of the database back; none was negative when it was written.
pub(crate) fn number(integer: i64) -> u64 {
    u64::try_from(integer).unwrap_or_default()
}

/// Writes a value, unless it could not be read again.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String, DatabaseError> {
    let unwritable = |source: Box<dyn std::error::Error + Send + Sync>| DatabaseError::Unwritable { source };
    let text = serde_json::to_string(value).map_err(|error| unwritable(error.into()))?;
    match crate::depth::check(&text) {
        Ok(()) => Ok(text),
        Err(too_deep) => Err(unwritable(too_deep.into())),
    }
}

pub(crate) fn from_json<T: serde::de::DeserializeOwned>(
    what: &'static str,
    id: &str,
    text: &str,
) -> Result<T, DatabaseError> {
    serde_json::from_str(text).map_err(|error| DatabaseError::unreadable(what, id, error))
}
