use schemars::JsonSchema;
use serde::Deserialize;

/// Where the spans of runs, turns of models and calls are sent, by OTLP over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TelemetryTable {
    /// The collector's address, as in `http://127.0.0.1:4318`: `https`, or `http` on this machine, and elsewhere where neither
    /// headers nor `content` are sent. Without a path ending with `/v1/traces`, that is added.
    pub(crate) endpoint: Option<String>,
    /// Headers that are sent with every request, each as `NAME: VALUE`; `$NAME` at its end stands for a variable.
    #[serde(deserialize_with = "super::agent_table::headers")]
    pub(crate) header: Option<Vec<String>>,
    /// Whether arguments and results of calls are sent, too; not by default.
    pub(crate) content: bool,
}
