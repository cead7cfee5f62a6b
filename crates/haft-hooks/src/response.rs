use std::error::Error;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a hook may print before a call.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BeforeResponse {
    pub(crate) input: Option<Value>,
    pub(crate) context: Option<String>,
}

/// What a hook may print after a call.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AfterResponse {
    pub(crate) output: Option<String>,
    pub(crate) context: Option<String>,
}

/// Reads what a hook printed; nothing but white space says nothing.
pub(crate) fn parse<T: DeserializeOwned + Default>(stdout: &[u8]) -> Result<T, Box<dyn Error + Send + Sync>> {
    let stdout = stdout.trim_ascii();
    match stdout.first() {
        None => Ok(T::default()),
        // Serde would take an array for an object whose names were left out.
        Some(b'{') => Ok(serde_json::from_slice(stdout)?),
        Some(_) => Err("it is not a JSON object".into()),
    }
}

#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(stdout: &[u8]) -> String {
        parse::<BeforeResponse>(stdout).expect_err("it is no answer").to_string()
    }

    #[test]
    fn reads_what_is_said_and_takes_null_for_nothing() {
        let read = |stdout: &str| parse::<BeforeResponse>(stdout.as_bytes()).unwrap();
        let nothing = BeforeResponse::default();
        assert_eq!([read(""), read(" \n\t"), read("{}")], [nothing, read("{}"), read("{\"input\":null}")]);
        assert_eq!(
            read("{\"input\": {\"a\": 1}, \"context\": \"c\"}\n"),
            BeforeResponse { input: Some(json!({ "a": 1 })), context: Some("c".to_owned()) }
        );
    }

    #[test]
    fn refuses_everything_else() {
        let nested = format!("{{\"input\":{}", "[".repeat(10_000));
        let refusals: Vec<String> = [
            "ok".as_bytes(),
            b"[1, \"c\"]",
            b"null",
            b"{\"input\": NaN}",
            b"{\"context\": 1}",
            b"{\"contexts\": \"c\"}",
            b"{\"output\": \"only after\"}",
            b"{\"input\": 1, \"input\": 2}",
            b"{} {}",
            b"{\"context\": \"\xff\"}",
            b"{",
            nested.as_bytes(),
        ]
        .map(refusal)
        .into();
        expect_test::expect![[r#"
            it is not a JSON object
            it is not a JSON object
            it is not a JSON object
            expected value at line 1 column 11
            invalid type: integer `1`, expected a string at line 1 column 13
            unknown field `contexts`, expected `input` or `context` at line 1 column 11
            unknown field `output`, expected `input` or `context` at line 1 column 9
            duplicate field `input` at line 1 column 20
            trailing characters at line 1 column 4
            invalid unicode code point at line 1 column 14
            EOF while parsing an object at line 1 column 1
            recursion limit exceeded at line 1 column 136"#]]
        .assert_eq(&refusals.join("\n"));
    }
}
