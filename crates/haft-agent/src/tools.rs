//! Tools by which a model turns to the people who watch its run.

mod ask_user;
mod update_plan;

pub use ask_user::ask_user;
pub use update_plan::{Plan, PlanStep, StepStatus, update_plan};
