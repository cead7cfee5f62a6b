//! Tests of the agent loop: the machine without a runtime, and the driver with played sessions and real executors.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

mod again;
mod bounds;
mod breaking;
mod budgets;
mod cancelling;
mod compacting;
mod driver;
mod fixture;
mod guiding;
mod handles;
mod interrupted;
mod killing;
mod live_tools;
mod loop_tools;
mod looping;
mod machine;
mod news;
mod properties;
mod steering;
mod stored;
mod telling;
mod turning;
