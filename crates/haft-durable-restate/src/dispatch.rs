//! Workflows under names that are only known when the program runs.
//!
//! What the engine's SDK writes for a service gives it the name that stands in its code; a pool has the name that its host
//! gives it. So the service is bound here by the same few calls, with the description that the SDK has written.

use crate::call_workflow::CallWorkflow;
use crate::runs::{RunWorkflow, STANDING, STATE};
use crate::wire::{DECIDE, HEAR, LISTEN, OUTCOME, RUN, STOP, WAITS};
use haft_durable::Pool;
use restate_sdk::discovery::{self, ServiceName};
use restate_sdk::endpoint::{self, ContextInternal};
use restate_sdk::errors::HandlerResult;
use restate_sdk::serde::Serialize;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use restate_sdk::service::{Discoverable as _, Service, ServiceDefinition};
use std::sync::Arc;

/// Makes the service of a workflow: each of its handlers under its name.
macro_rules! service {
    ($service:ident($workflow:ty) { $($name:ident => $handler:ident),+ $(,)? }) => {
        struct $service(Arc<$workflow>);

        impl Service for $service {
            type Future = ServiceBoxFuture;

            fn handle(&self, cx: ContextInternal) -> ServiceBoxFuture {
                let workflow = Arc::clone(&self.0);
                Box::pin(async move {
                    match cx.handler_name() {
                        $($name => {
                            let (input, metadata) = cx.input().await;
                            answer(&cx, workflow.$handler((&cx, metadata).into(), input).await);
                        })+
                        other => return Err(endpoint::Error::unknown_handler(cx.service_name(), other)),
                    }
                    Ok(())
                })
            }
        }
    };
}

service!(Calls(CallWorkflow) {
    RUN => run,
    OUTCOME => outcome,
    WAITS => waits,
    DECIDE => decide,
    HEAR => hear,
    LISTEN => listen,
    STOP => stop,
});

service!(Runs(RunWorkflow) {
    RUN => run,
    STANDING => standing,
    STATE => state,
    STOP => stop,
});

fn answer<T: Serialize>(cx: &ContextInternal, result: HandlerResult<T>) {
    cx.handle_handler_result(result);
    cx.end();
}

/// Makes the service of a pool that makes calls.
pub(crate) fn of_calls(pool: &Pool, workflow: CallWorkflow) -> ServiceDefinition {
    service_definition(Calls(Arc::new(workflow)), named(pool, CallWorkflow::discover()))
}

/// Makes the service of a pool that drives runs.
pub(crate) fn of_runs(pool: &Pool, workflow: RunWorkflow) -> ServiceDefinition {
    service_definition(Runs(Arc::new(workflow)), named(pool, RunWorkflow::discover()))
}

fn named(pool: &Pool, mut service: discovery::Service) -> discovery::Service {
    service.name = ServiceName::try_from(pool.as_str()).expect("the name of a pool is that of a service");
    service
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_name_of_a_pool_is_that_of_a_service(name in "[A-Za-z][A-Za-z0-9._-]{0,63}") {
            prop_assert!(name.parse::<Pool>().is_ok());
            prop_assert_eq!(ServiceName::try_from(name.as_str()).unwrap().to_string(), name);
        }
    }
}
