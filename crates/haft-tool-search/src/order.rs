use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order of paths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Order {
    // The variants have no comments of their own, so that the schema is a plain list of words; it shows the default by
    // writing it out.
    #[default]
    Path,
    Modified,
}
