use crate::cluster::EngineUrl;
use crate::serve::Route;
use schemars::JsonSchema;
use serde::Deserialize;

/// Which engine makes the calls of `haft serve --executor restate`, and what `haft approvals --restate` asks.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExecutorTable {
    /// The engine, at the address of its ingress, as in `http://127.0.0.1:8080`.
    #[serde(deserialize_with = "super::reading::parsed")]
    #[schemars(with = "Option<String>")]
    pub(crate) restate: Option<EngineUrl>,
    /// Its admin interface; by default on the same machine at the port 9070.
    #[serde(deserialize_with = "super::reading::parsed")]
    #[schemars(with = "Option<String>")]
    pub(crate) admin: Option<EngineUrl>,
    /// The pool of workers that makes calls; `tools` by default.
    pub(crate) pool: Option<String>,
    /// Other pools that make the calls of some tools, each as in `browse_*=browsers`; the first that fits counts.
    #[serde(deserialize_with = "super::reading::all_parsed")]
    #[schemars(with = "Vec<String>")]
    pub(crate) routes: Vec<Route>,
}
