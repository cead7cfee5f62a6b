use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `find_files`. The comments are what the model reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindFilesInput {
    /// A part of the name, or its characters in their order, such as `readme`, `cfgprs` or `net/sock`.
    #[schemars(length(max = 200))]
    pub(super) query: String,
    /// The directory to search.
    #[serde(default = "here")]
    pub(super) path: String,
    /// The most paths to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub(super) limit: u16,
    /// Whether to find hidden files too. By default only if a name in `query` starts with a dot.
    #[serde(default)]
    #[schemars(with = "bool", skip_serializing_if = "Option::is_none")]
    pub(super) hidden: Option<bool>,
    /// Whether to find files too that .gitignore leaves out.
    #[serde(default)]
    pub(super) no_ignore: bool,
}

fn here() -> String {
    ".".to_owned()
}

fn usual_limit() -> u16 {
    20
}
