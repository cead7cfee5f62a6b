//! Make a tool of an async function that you have
//!
//! `#[haft::tool]` leaves the function as it is, and makes `NAME_tool` beside it: documentation becomes what the model reads, arguments
//! the schema, and `accesses` says what a call will touch, so that rules can be about it and calls that touch the same wait for each
//! other. What the function needs of your program is marked `#[state]`.

use crate::Done;
use haft::{
    Access, AccessMode, Batch, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, ToolCall, ToolError,
    ToolExecutor as _, ToolRegistry,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const TICKET: Scheme = Scheme::new("ticket");

type Tickets = Arc<Mutex<BTreeMap<u32, &'static str>>>;

/// Closes a ticket, and gives what it was about.
#[haft::tool(accesses = Access::write(Resource::exact(TICKET, number.to_string())), idempotent)]
async fn close_ticket(
    #[state] tickets: Tickets,
    /// The number of the ticket.
    #[schemars(range(min = 1))]
    number: u32,
) -> Result<String, ToolError> {
    let closed =
        tickets.lock().map_err(|_| ToolError::failed("the tickets are out of order"))?.remove(&number);
    let about =
        closed.ok_or_else(|| ToolError::not_found(format!("no ticket {number} is open; list them first")))?;
    Ok(format!("closed: {about}"))
}

pub(crate) async fn run() -> Done {
    let tickets: Tickets = Arc::new(Mutex::new(BTreeMap::from([(7, "the door sticks"), (8, "no light")])));
    let registry = ToolRegistry::new().with(close_ticket_tool(Arc::clone(&tickets)))?;
    // All tickets may be closed but one.
    let policy = Policy::new()
        .allow(Rule::access(AccessMode::Write, Resource::subtree(TICKET, "")))
        .deny(Rule::access(AccessMode::Write, Resource::exact(TICKET, "8")));
    let executor = LocalExecutor::builder(registry).policy(policy).build();
    let call = |id: &str, number: u32| {
        Ok::<_, haft::core::IdError>(ToolCall::new(id.parse()?, "close_ticket", json!({ "number": number })))
    };
    let calls = vec![call("c1", 7)?, call("c2", 7)?, call("c3", 8)?, call("c4", 0)?];
    let batch = Batch::new(CallScope::new("run-1".parse()?), calls);
    for reply in executor.execute_batch(batch).await.into_replies()? {
        println!("{} {}: {}", reply.call_id, reply.status, reply.output.to_text());
    }
    // The function can still be called as one.
    println!("{}", close_ticket(tickets, 8).await?);
    Ok(())
}
