use crate::{AgentSpec, ChildRun, Placed, report, tools};
use haft_tools_core::{CollisionPolicy, RunTools, ToolRegistry};
use std::sync::Arc;

/// Says which tools a run has: those of the house that its agent's selector chooses, and the one by which it gives its result.
pub(super) struct Offer {
    house: Arc<dyn Fn() -> ToolRegistry + Send + Sync>,
    spec: Arc<AgentSpec>,
    may_delegate: bool,
    /// What works in the run's own place, where it has one.
    of_place: Option<ToolRegistry>,
    report: ToolRegistry,
    list: RunTools,
}

impl Offer {
    pub(super) fn new(child: &ChildRun, house: Arc<dyn Fn() -> ToolRegistry + Send + Sync>) -> Self {
        let mut offer = Self {
            house,
            spec: Arc::clone(&child.spec),
            may_delegate: child.may_delegate,
            of_place: Placed::of(&child.scope).map(|place| place.tools().clone()),
            // An agent whose schema no tool can have says its result as its last message.
            report: ToolRegistry::new().with(report(&child.spec)).unwrap_or_default(),
            list: RunTools::builder(ToolRegistry::new()).start(),
        };
        offer.list = RunTools::builder(offer.chosen()).start();
        offer
    }

    /// The list as it is now.
    pub(super) fn now(&self) -> RunTools {
        self.list.update(self.chosen());
        self.list.clone()
    }

    /// Those that the selector chooses, and none that starts runs where the run may start none.
    fn chosen(&self) -> ToolRegistry {
        let house = (self.house)();
        let house = match &self.of_place {
            // What works in the run's own place stands for what works elsewhere.
            Some(place) => house.merge(place, CollisionPolicy::KeepLast).unwrap_or_else(|_| place.clone()),
            None => house,
        };
        let chosen = house.filtered(&self.spec.tools);
        let names: Vec<&str> = chosen.names().filter(|name| !tools::of_delegation(name)).collect();
        let chosen = match names.join(", ").parse() {
            _ if self.may_delegate => chosen,
            Ok(selector) => house.filtered(&selector),
            // An empty list is no selector.
            Err(_) => ToolRegistry::new(),
        };
        // Every run can give its result, whatever else it has.
        chosen.merge(&self.report, CollisionPolicy::KeepLast).unwrap_or(chosen)
    }
}
