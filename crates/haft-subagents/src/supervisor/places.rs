//! Places in which runs work apart from those that started them.

use super::drive::Order;
use super::house::House;
use crate::{
    AgentSpec, ChildResult, Isolation, KeptChanges, Workplace, WorkplaceError, Workplaces, take_changes,
    take_up_changes,
};
use haft_core::{RunId, with_causes};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Makes places, and keeps what is changed in them.
pub(super) struct Places {
    pub(super) made_by: Arc<dyn Workplaces>,
    pub(super) changes: KeptChanges,
    /// Those in which somebody works.
    pub(super) open: Mutex<HashMap<RunId, Weak<dyn Workplace>>>,
}

impl Places {
    /// Makes the place of a run, or finds it: runs below it that work there may do so while the run itself waits.
    async fn of(&self, order: &Order, isolation: Isolation) -> Result<Arc<dyn Workplace>, WorkplaceError> {
        let run = &order.record.run;
        if let Some(place) = self.lock().get(run).and_then(Weak::upgrade) {
            return Ok(place);
        }
        let place = self.made_by.place(&order.above, run, isolation).await?;
        // What the run had changed in one that it had before is in this one, too.
        if let Err(error) = take_up_changes(&*place, &self.changes, &order.record.parent).await {
            // What it has done is kept elsewhere, so nothing is lost with the place.
            if matches!(error, WorkplaceError::Unfit { .. }) {
                let _ = place.remove().await;
            }
            return Err(error);
        }
        let mut open = self.lock();
        open.retain(|_, place| place.strong_count() > 0);
        open.insert(run.clone(), Arc::downgrade(&place));
        Ok(place)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Weak<dyn Workplace>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
            Some(places) => places.of(order, spec.isolation).await,
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
            Ok(patch) => {
                if let (false, Some(path)) = (patch.left_out.is_empty(), place.path()) {
                    let detail = result.detail.get_or_insert_default();
                    let _ = write!(detail, " (what its patch does not carry is in `{}`)", path.display());
                }
                patch.summary(&order.record.run)
            }
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
