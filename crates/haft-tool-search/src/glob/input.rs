use crate::order::Order;
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `glob`. The comments are what the model reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobInput {
    /// The pattern, such as `*.rs`, `src/**/*.{ts,tsx}`, `**/test_*.py` or `docs/`.
    #[schemars(length(max = 1000))]
    pub(super) pattern: String,
    /// The directory to search.
    #[serde(default = "here")]
    pub(super) path: String,
    /// The most paths to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub(super) limit: u16,
    /// Whether to find hidden files too. By default only if `pattern` names one, as `.github/**` does.
    #[serde(default)]
    #[schemars(with = "bool", skip_serializing_if = "Option::is_none")]
    pub(super) hidden: Option<bool>,
    /// Whether to find files too that .gitignore leaves out.
    #[serde(default)]
    pub(super) no_ignore: bool,
    /// How to order the paths: `path`, or `modified` with the file changed last first.
    #[serde(default)]
    pub(super) sort: Order,
}

fn here() -> String {
    ".".to_owned()
}

fn usual_limit() -> u16 {
    200
}
