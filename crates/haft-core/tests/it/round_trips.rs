use crate::strategies;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Writes a value as text and as a JSON value and reads it back from both.
fn check<T>(value: &T) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(value).unwrap();
    let read: T =
        serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error} in {text}")))?;
    prop_assert_eq!(&read, value, "read from {}", text);
    let again = serde_json::to_string(&read).unwrap();
    prop_assert_eq!(&again, &text);

    let json = serde_json::to_value(value).unwrap();
    let read: T =
        serde_json::from_value(json).map_err(|error| TestCaseError::fail(format!("{error} in {text}")))?;
    prop_assert_eq!(&read, value, "read from the value of {}", text);
    Ok(())
}

macro_rules! round_trips {
    ($($name:ident)*) => {
        proptest! {
            $(
                #[test]
                fn $name(value in strategies::$name()) {
                    check(&value)?;
                }
            )*
        }
    };
}

// Of every public type: what is written reads as what it was.
round_trips! {
    assistant_part blob call_id content decision digest error_kind event event_kind exposure json_value message origin
    output_id progress repair reply_status run_id schema stop_reason tool_call tool_error_kind tool_hints tool_name tool_output
    tool_reply tool_spec truncation usage
}
