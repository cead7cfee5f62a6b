//! Places in which runs work apart from those that started them.

use super::drive::Order;
use super::drive::with_causes;
use super::house::House;
use crate::{
    AgentSpec, ChildResult, Isolation, KeptChanges, Workplace, WorkplaceError, Workplaces, take_changes,
};
use std::fmt::Write as _;
use std::sync::Arc;

/// Makes places, and keeps what is changed in them.
pub(super) struct Places {
    pub(super) made_by: Arc<dyn Workplaces>,
    pub(super) changes: KeptChanges,
}

impl House {
    /// Makes the place in which a run works, or finds it again, if its agent wants one of its own.
    pub(super) async fn place(
        &self,
        order: &Order,
        spec: &AgentSpec,
    ) -> Result<Option<Arc<dyn Workplace>>, ChildResult> {
        if spec.isolation == Isolation::Shared {
            return Ok(None);
        }
        let made = match &self.places {
            Some(places) => places.made_by.place(&order.above, &order.record.run, spec.isolation).await,
            None => Err(WorkplaceError::Unsupported { isolation: spec.isolation }),
        };
        made.map(Some)
            .map_err(|error| ChildResult::failed(error.model_text()).with_detail(with_causes(&error)))
    }

    /// Keeps what a run has changed in its place for the one that started it, and tells that one of it.
    pub(super) async fn with_changes(
        &self,
        order: &Order,
        place: Option<&dyn Workplace>,
        mut result: ChildResult,
    ) -> ChildResult {
        let (Some(place), Some(places)) = (place, &self.places) else { return result };
        let told = match take_changes(place, &places.changes, &order.record.parent).await {
            Ok(patch) => patch.summary(&order.record.run),
            Err(error) => {
                let detail = result.detail.get_or_insert_default();
                let _ = write!(detail, " (what it changed: {})", with_causes(&error));
                format!("What it changed cannot be taken over: {}", error.model_text())
            }
        };
        if !result.text.is_empty() {
            result.text.push_str("\n\n");
        }
        result.text.push_str(&told);
        result
    }
}
