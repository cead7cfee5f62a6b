use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of `outline`. The comments are what the model reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutlineInput {
    /// The file or directory to outline, or to look for `name` in.
    #[serde(default = "here")]
    pub(super) path: String,
    /// A name to look for in place of an outline, such as `parse`, or `parse*` where `*` stands for any characters. Letter case counts.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none", length(max = 200))]
    pub(super) name: Option<String>,
    /// What to give of `name`: where it is defined, where it is used, or both.
    #[serde(default)]
    pub(super) role: Role,
    /// How many levels of symbols in symbols to outline. By default 10 of a file and 1 of the files of a directory.
    #[serde(default)]
    #[schemars(with = "u8", skip_serializing_if = "Option::is_none", range(min = 1, max = 10))]
    pub(super) depth: Option<u8>,
    /// Which files of a directory to take: `*.rs`, `src/**/*.py`, or `!*_test.go` for all others.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none", length(max = 1000))]
    pub(super) glob: Option<String>,
    /// Which type of files of a directory to take, by its name: `rust`, `py`, `ts`, `js`, `go`, `java`, `c`, `cpp`.
    #[serde(default, rename = "type")]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none", length(max = 100))]
    pub(super) file_type: Option<String>,
    /// The most symbols to give, or places of `name`.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub(super) limit: u16,
    /// How many of the first to pass over: to see what comes after those that were given.
    #[serde(default)]
    #[schemars(range(max = 10_000))]
    pub(super) offset: u16,
    /// Whether to take hidden files too. By default only if `glob` names one.
    #[serde(default)]
    #[schemars(with = "bool", skip_serializing_if = "Option::is_none")]
    pub(super) hidden: Option<bool>,
    /// Whether to take files too that .gitignore leaves out.
    #[serde(default)]
    pub(super) no_ignore: bool,
}

/// What is given of a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Role {
    // The variants have no comments of their own, so that the schema is a plain list of words; it shows the default by
    // writing it out.
    #[default]
    Definitions,
    References,
    Both,
}

impl Role {
    pub(super) fn has_definitions(self) -> bool {
        self != Self::References
    }

    pub(super) fn has_references(self) -> bool {
        self != Self::Definitions
    }
}

fn here() -> String {
    ".".to_owned()
}

fn usual_limit() -> u16 {
    200
}
