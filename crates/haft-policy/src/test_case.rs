use crate::reader::{Reader, Value};
use haft_core::Decision;
use haft_tools_core::{Access, Mode};
use serde_json::{Map, json};
use std::ops::Range;
use toml::de::DeValue;

/// The most tests of one file.
const MOST_TESTS: usize = 1_000;

pub(crate) const KEYS: [&str; 8] = ["access", "command", "tool", "input", "expect", "agent", "mode", "name"];

/// The decisions as they are written.
pub(crate) const DECISIONS: [(&str, Decision); 3] =
    [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)];

/// The tool that `command` is a call of.
const SHELL: &str = "bash";

/// Holds one `[[test]]` of a policy file: what is decided, and what the decision is to be.
#[derive(Debug, Clone)]
pub(crate) struct TestCase {
    pub(crate) name: Option<String>,
    pub(crate) subject: Subject,
    pub(crate) expect: Decision,
    /// The agents from the first to the one that makes the call.
    pub(crate) agents: Vec<String>,
    pub(crate) mode: Option<Mode>,
    /// Where what is decided stands in the file.
    pub(crate) range: Range<usize>,
}

/// Says what a test decides.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    Access(Box<Access>),
    Call { tool: String, input: serde_json::Value },
}

/// Gathers the keys of a test while they are read.
#[derive(Default)]
struct Draft {
    name: Option<String>,
    expect: Option<Decision>,
    agents: Vec<String>,
    mode: Option<Mode>,
    /// Each with where it stands; what is not right in itself has been refused.
    subjects: Vec<(&'static str, Range<usize>, Option<Subject>)>,
    input: Option<(Range<usize>, serde_json::Value)>,
}

impl TestCase {
    pub(crate) fn read_all(reader: &mut Reader<'_>, value: &Value<'_>) -> Vec<Self> {
        let DeValue::Array(list) = value.get_ref() else {
            reader.refuse(&value.span(), "tests are written one by one, each under its own `[[test]]`");
            return Vec::new();
        };
        if list.len() > MOST_TESTS {
            reader.refuse(
                &value.span(),
                format!("a policy file has at most {MOST_TESTS} tests; move some into another file"),
            );
            return Vec::new();
        }
        list.iter().filter_map(|value| Self::read(reader, value)).collect()
    }

    fn read(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Self> {
        let table = reader.table(value, "test")?;
        let mut draft = Draft::default();
        let mut is_whole = true;
        for (key, value) in table {
            let word = &**key.get_ref();
            is_whole &= draft.read(reader, word, value, &key.span()) || {
                if !KEYS.contains(&word) {
                    reader.unknown(key, "`[[test]]`", &KEYS);
                }
                false
            };
        }
        let says_expect = table.contains_key("expect");
        if !says_expect {
            reader.refuse(
                &value.span(),
                "the test does not say what to `expect`; write `allow`, `ask` or `deny`",
            );
        }
        let case = draft.finish(reader, &value.span());
        case.filter(|_| is_whole && says_expect)
    }
}

impl Draft {
    /// Reads one key; gives whether it can be used.
    fn read(&mut self, reader: &mut Reader<'_>, key: &str, value: &Value<'_>, at: &Range<usize>) -> bool {
        match key {
            "name" => {
                self.name = reader.text(value, "name").map(str::to_owned);
                self.name.is_some()
            }
            "expect" => {
                self.expect = reader.word(value, "a decision", &DECISIONS);
                self.expect.is_some()
            }
            "mode" => {
                let modes: Vec<_> = Mode::ALL.iter().map(|mode| (mode.as_str(), *mode)).collect();
                self.mode = reader.word(value, "a mode", &modes);
                self.mode.is_some()
            }
            "agent" => {
                let names = match value.get_ref() {
                    DeValue::Array(names) if names.is_empty() => {
                        reader.refuse(&value.span(), "`agent` names nobody; write a name, or leave it out");
                        Vec::new()
                    }
                    DeValue::Array(_) => reader.texts(value, "agent"),
                    _ => reader.text(value, "agent").map(|name| (name, value)).into_iter().collect(),
                };
                self.agents = names.into_iter().map(|(name, _)| name.to_owned()).collect();
                !self.agents.is_empty()
            }
            "input" => {
                self.input = reader.table(value, "input").map(|_| (at.clone(), to_json(value.get_ref())));
                self.input.is_some()
            }
            "access" => {
                let access = reader.text(value, "access").and_then(|text| {
                    let is_left_out = reader.leaves_out_unknown_patterns && !reader.knows_patterns_of(text);
                    if is_left_out {
                        None
                    } else {
                        reader.in_language(value, |language| language.access(text))
                    }
                });
                let subject = access.map(|access| Subject::Access(Box::new(access)));
                self.subject("access", value.span(), subject)
            }
            "command" => {
                let command = reader.text(value, "command").map(|command| Subject::Call {
                    tool: SHELL.to_owned(),
                    input: json!({ "command": command }),
                });
                self.subject("command", value.span(), command)
            }
            "tool" => {
                let tool = reader
                    .text(value, "tool")
                    .map(|tool| Subject::Call { tool: tool.to_owned(), input: json!({}) });
                self.subject("tool", value.span(), tool)
            }
            _ => false,
        }
    }

    fn subject(&mut self, key: &'static str, range: Range<usize>, subject: Option<Subject>) -> bool {
        let can_be_used = subject.is_some();
        self.subjects.push((key, range, subject));
        can_be_used
    }

    fn finish(self, reader: &mut Reader<'_>, whole: &Range<usize>) -> Option<TestCase> {
        let mut subjects = self.subjects.into_iter();
        let Some((key, range, subject)) = subjects.next() else {
            reader.refuse(
                whole,
                "the test does not say what is decided; write an `access`, a `command`, or a `tool` with its `input`",
            );
            return None;
        };
        if let Some((other, range, _)) = subjects.next() {
            reader.refuse(&range, format!("the test has `{key}` already; make another test for `{other}`"));
            return None;
        }
        let subject = match (subject?, self.input) {
            (Subject::Call { tool, .. }, Some((_, input))) if key == "tool" => Subject::Call { tool, input },
            (_, Some((at, _))) => {
                reader.refuse(
                    &at,
                    format!("`input` belongs to a `tool`, and this test has `{key}`; leave one of them out"),
                );
                return None;
            }
            (subject, None) => subject,
        };
        let Self { name, agents, mode, .. } = Self { subjects: Vec::new(), input: None, ..self };
        Some(TestCase { name, subject, expect: self.expect?, agents, mode, range })
    }
}

/// Takes a value for a tool's arguments; dates become texts.
fn to_json(value: &DeValue<'_>) -> serde_json::Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => {
            let (digits, radix) = (number.as_str(), number.radix());
            match i64::from_str_radix(digits, radix) {
                Ok(number) => json!(number),
                Err(_) => {
                    u64::from_str_radix(digits, radix).map_or_else(|_| json!(digits), |number| json!(number))
                }
            }
        }
        DeValue::Float(number) => {
            number.as_str().parse::<f64>().map_or_else(|_| json!(number.as_str()), |n| json!(n))
        }
        DeValue::Boolean(truth) => json!(truth),
        DeValue::Datetime(time) => json!(time.to_string()),
        DeValue::Array(values) => values.iter().map(|value| to_json(value.get_ref())).collect(),
        DeValue::Table(table) => {
            let members =
                table.iter().map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref())));
            serde_json::Value::Object(members.collect::<Map<_, _>>())
        }
    }
}
