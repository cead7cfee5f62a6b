//! JSON as a snapshot shows it.

use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How many columns a line may have, its indentation and key included.
const COLUMNS: usize = 120;

/// Writes a value as JSON for a snapshot: what fits a line of 120 columns stands on one, and all else on a line for each
/// element, indented by two.
///
/// A specification of a tool is then about as long as it has parameters, and a change to one of them is one line of the
/// difference that a failed test prints. Keys are in the order of the alphabet.
///
/// ```
/// # #[cfg(unix)] {
/// use haft_testkit::laid_out;
/// use serde_json::json;
///
/// assert_eq!(laid_out(&json!({ "b": [1, 2], "a": {} })), r#"{"a": {}, "b": [1, 2]}"#);
/// # }
/// ```
///
/// # Panics
///
/// If the value has no JSON, as a map whose keys are no texts.
#[must_use]
pub fn laid_out(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("it has JSON");
    let mut text = String::new();
    write(&mut text, "", &value, 0);
    text
}

/// Writes a value whose first line starts with the indentation and `key`.
fn write(text: &mut String, key: &str, value: &Value, indentation: usize) {
    let line = on_one_line(value);
    let is_short = indentation + key.chars().count() + line.chars().count() <= COLUMNS;
    text.push_str(key);
    match value {
        Value::Array(elements) if !is_short => {
            let elements = elements.iter().map(|element| (String::new(), element));
            write_elements(text, ('[', ']'), elements, indentation);
        }
        Value::Object(members) if !is_short => {
            let members =
                sorted(members).into_iter().map(|(name, member)| (format!("{}: ", quoted(name)), member));
            write_elements(text, ('{', '}'), members, indentation);
        }
        _ => text.push_str(&line),
    }
}

fn write_elements<'a>(
    text: &mut String,
    (open, close): (char, char),
    elements: impl Iterator<Item = (String, &'a Value)>,
    indentation: usize,
) {
    text.push(open);
    let inner = indentation + 2;
    for (at, (key, element)) in elements.enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.extend(std::iter::repeat_n(' ', inner));
        write(text, &key, element, inner);
    }
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indentation));
    text.push(close);
}

/// Writes a value on one line, with a blank after each colon and comma.
fn on_one_line(value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(on_one_line).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members = sorted(members)
                .into_iter()
                .map(|(name, member)| format!("{}: {}", quoted(name), on_one_line(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// Gives members by their keys, in whatever order the map has them: that is a feature of `serde_json`.
fn sorted(members: &Map<String, Value>) -> BTreeMap<&String, &Value> {
    members.iter().collect()
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::laid_out;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn check(value: &Value, expected: &Expect) {
        expected.assert_eq(&laid_out(value));
    }

    #[test]
    fn what_fits_stands_on_one_line() {
        check(&json!({}), &expect!["{}"]);
        check(&json!([]), &expect!["[]"]);
        check(&json!("a\n\"b\""), &expect![[r#""a\n\"b\"""#]]);
        check(
            &json!({ "a": [1, null, true], "b\n": { "c": "d" } }),
            &expect![[r#"{"a": [1, null, true], "b\n": {"c": "d"}}"#]],
        );
    }

    #[test]
    fn what_does_not_fit_has_a_line_for_each_element() {
        let text = "x".repeat(100);
        check(
            &json!({ "type": "object", "properties": { "a": { "description": text, "type": "string" }, "b": {} } }),
            &expect![[r#"
                {
                  "properties": {
                    "a": {
                      "description": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                      "type": "string"
                    },
                    "b": {}
                  },
                  "type": "object"
                }"#]],
        );
        check(
            &json!([[], [1, 2], text, text]),
            &expect![[r#"
            [
              [],
              [1, 2],
              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            ]"#]],
        );
    }

    #[test]
    fn a_line_is_filled_to_its_last_column() {
        let columns = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
        // `["…"]` adds four columns.
        assert_eq!(laid_out(&json!(["ü".repeat(116)])).lines().count(), 1);
        assert_eq!(columns(&laid_out(&json!(["ü".repeat(116)]))), 120);
        assert_eq!(laid_out(&json!(["ü".repeat(117)])).lines().count(), 3);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,60}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(".{0,12}", inner, 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_read_as_what_it_was(value in any_json()) {
            let text = laid_out(&value);
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{}", text);
        }
    }
}
