use serde::de::IgnoredAny;

/// Lays JSON out over lines, just as it is otherwise; gives nothing for what is none, or would be more than so many bytes.
///
/// Reading it into values would change numbers that no type holds, and the order of members.
pub(crate) fn laid_out(text: &str, most: usize) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut out = String::with_capacity(text.len().min(most));
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut characters =
        text.chars().filter(|character| !character.is_ascii_whitespace() || *character == ' ').peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(character) = characters.next() {
        if out.len() > most {
            return None;
        }
        if in_string {
            out.push(character);
            in_string = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            continue;
        }
        match character {
            ' ' => {}
            '"' => {
                in_string = true;
                out.push(character);
            }
            '{' | '[' => {
                out.push(character);
                while characters.next_if_eq(&' ').is_some() {}
                if let Some(close) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn members_stay_in_order_and_numbers_as_they_are() {
        let text = r#"{"b":[1e999,12345678901234567890.10,[],{ }],"a":" x: [\"}\\","c":{"d":null}}"#;
        let expected = "{\n  \"b\": [\n    1e999,\n    12345678901234567890.10,\n    [],\n    {}\n  ],\n  \"a\": \" x: [\\\"}\\\\\",\n  \"c\": {\n    \"d\": null\n  }\n}";
        assert_eq!(laid_out(text, 1000).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_no_json_or_too_much_is_left_alone() {
        assert_eq!(laid_out("{", 1000), None);
        assert_eq!(laid_out("", 1000), None);
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(laid_out(&deep, 1000), None);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[ -~]{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_stays_the_same_value(value in value()) {
            let expected = serde_json::to_string_pretty(&value).unwrap();
            let given = laid_out(&value.to_string(), usize::MAX);
            prop_assert_eq!(given.as_deref(), Some(expected.as_str()));
            // Blanks of its own are no part of it.
            prop_assert_eq!(laid_out(&expected, usize::MAX), given);
        }
    }
}
