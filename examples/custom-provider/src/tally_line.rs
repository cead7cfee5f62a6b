use haft::core::{StopReason, Usage};
use haft::model::{Delta, ModelError, ProtocolError};
use serde_json::Value;
use std::time::Duration;

/// Reads one line of an answer: a word for what it is, a space, and the rest.
///
/// | line | says |
/// |---|---|
/// | `think TEXT` | the model thinks |
/// | `say TEXT` | it writes |
/// | `call INDEX ID NAME` | it begins a call |
/// | `with INDEX JSON` | the call's arguments go on |
/// | `cost INPUT OUTPUT` | how many tokens it took so far |
/// | `busy SECONDS` | ask again in so many seconds |
/// | `end WHY` | the turn is over: `done`, `calls` or `cut` |
pub(crate) fn delta_of(line: &str) -> Result<Delta, ModelError> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let delta = match word {
        "think" => Some(Delta::Reasoning { text: rest.to_owned(), provider_data: Value::Null }),
        "say" => Some(Delta::Text(rest.to_owned())),
        "call" => call(rest),
        "with" => arguments(rest),
        "cost" => cost(rest),
        "busy" => {
            let retry_after = rest.parse().ok().map(Duration::from_secs);
            return Err(ModelError::RateLimited { retry_after });
        }
        "end" => stop(rest),
        _ => None,
    };
    // What is not understood may be what matters, so it is not skipped.
    delta.ok_or_else(|| {
        let word: String = word.chars().take(20).collect();
        ProtocolError::Unreadable { what: format!("the line `{word}` is none of this format"), source: None }
            .into()
    })
}

fn call(rest: &str) -> Option<Delta> {
    let mut parts = rest.splitn(3, ' ');
    let (index, id, name) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Delta::ToolCallStart { index: index.parse().ok()?, id: id.parse().ok()?, name: name.to_owned() })
}

fn arguments(rest: &str) -> Option<Delta> {
    let (index, fragment) = rest.split_once(' ')?;
    Some(Delta::ToolCallArguments { index: index.parse().ok()?, fragment: fragment.to_owned() })
}

fn cost(rest: &str) -> Option<Delta> {
    let (input, output) = rest.split_once(' ')?;
    let mut usage = Usage::default();
    (usage.input, usage.output) = (input.parse().ok()?, output.parse().ok()?);
    Some(Delta::Usage(usage))
}

fn stop(why: &str) -> Option<Delta> {
    Some(Delta::Stop(match why {
        "done" => StopReason::EndTurn,
        "calls" => StopReason::ToolCalls,
        "cut" => StopReason::MaxTokens,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
    fn check(line: &str, expected: Expect) {
        let read = delta_of(line);
        let read = read.map_or_else(|error| format!("error: {error}"), |delta| format!("{delta:?}"));
        expected.assert_eq(&read);
    }

    #[test]
    fn each_line_is_a_delta_or_an_error() {
        check("say two words", expect![[r#"Text("two words")"#]]);
        check("end done", expect!["Stop(EndTurn)"]);
        check(
            "end somehow",
            expect!["error: the model's answer is malformed: the line `end` is none of this format"],
        );
        check(
            "call 0 c1",
            expect!["error: the model's answer is malformed: the line `call` is none of this format"],
        );
        check(
            "busy 7",
            expect!["error: the model's provider limits the rate of requests; wait 7 s, then ask again"],
        );
        check("", expect!["error: the model's answer is malformed: the line `` is none of this format"]);
    }
}
