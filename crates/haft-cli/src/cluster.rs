//! The engine that keeps calls for several machines: Restate, with the feature `restate`.

#[cfg(not(feature = "restate"))]
mod absent;
#[cfg(feature = "restate")]
mod denial;
mod engine_url;
#[cfg(feature = "restate")]
mod serving;
#[cfg(feature = "restate")]
mod waiting;
#[cfg(feature = "restate")]
mod working;

#[cfg(not(feature = "restate"))]
pub(crate) use absent::{ServedCluster, answer, calls, work};
pub(crate) use engine_url::EngineUrl;
#[cfg(feature = "restate")]
pub(crate) use serving::ServedCluster;
#[cfg(feature = "restate")]
pub(crate) use waiting::{answer, calls};
#[cfg(feature = "restate")]
pub(crate) use working::work;
