use crate::order::Order;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of `grep`. The comments are what the model reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepInput {
    /// The regular expression to look for.
    #[schemars(length(max = 2000))]
    pub(super) pattern: String,
    /// The directory or file to search.
    #[serde(default = "here")]
    pub(super) path: String,
    /// Several directories or files to search, in place of `path`.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(super) paths: Vec<String>,
    /// Which files of a directory to search: `*.rs`, `*.{ts,tsx}`, `src/**/*.py`, or `!*.lock` for all others.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none", length(max = 1000))]
    pub(super) glob: Option<String>,
    /// Which type of files of a directory to search, by its name: `rust`, `py`, `ts`, `js`, `go`, `java`, `cpp`, `md` and many more.
    #[serde(default, rename = "type")]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none", length(max = 100))]
    pub(super) file_type: Option<String>,
    /// What to give: `content` gives the matches, `files` only the paths of files that have any, `count` how many each file has.
    #[serde(default)]
    pub(super) mode: Mode,
    /// How many lines to give before and after each match.
    #[serde(default)]
    #[schemars(with = "u8", skip_serializing_if = "Option::is_none", range(max = 20))]
    pub(super) context: Option<u8>,
    /// How many lines to give before each match, in place of `context`.
    #[serde(default)]
    #[schemars(with = "u8", skip_serializing_if = "Option::is_none", range(max = 20))]
    pub(super) before: Option<u8>,
    /// How many lines to give after each match, in place of `context`.
    #[serde(default)]
    #[schemars(with = "u8", skip_serializing_if = "Option::is_none", range(max = 20))]
    pub(super) after: Option<u8>,
    /// Whether letter case counts: with `smart` it does if the pattern has an upper-case letter.
    #[serde(default)]
    pub(super) case: Case,
    /// Whether to look for the pattern as it is written, not as a regular expression.
    #[serde(default)]
    pub(super) literal: bool,
    /// Whether a match may span lines; `.` then matches line breaks too.
    #[serde(default)]
    pub(super) multiline: bool,
    /// The most matches to give, or files if `mode` is `files` or `count`.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub(super) limit: u16,
    /// How many of the first matches to pass over, or files if `mode` is `files` or `count`: to see what comes after those that were given.
    #[serde(default)]
    #[schemars(range(max = 100_000))]
    pub(super) offset: u32,
    /// Whether to search hidden files too. By default only if `glob` names one, as `.github/**` does.
    #[serde(default)]
    #[schemars(with = "bool", skip_serializing_if = "Option::is_none")]
    pub(super) hidden: Option<bool>,
    /// Whether to search files too that .gitignore leaves out.
    #[serde(default)]
    pub(super) no_ignore: bool,
    /// How to order the files: `path`, or `modified` with the one changed last first.
    #[serde(default)]
    pub(super) sort: Order,
}

/// What a search gives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Mode {
    // The variants have no comments of their own, so that the schema is a plain list of words; it shows the default by
    // writing it out.
    #[default]
    Content,
    Files,
    Count,
}

/// Whether letter case counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Case {
    #[default]
    Smart,
    Sensitive,
    Insensitive,
}

fn here() -> String {
    ".".to_owned()
}

fn usual_limit() -> u16 {
    100
}
