//! What connections leave behind when they are closed. It is alone in its program, since descriptors and children are
//! those of the whole process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]

mod left_behind;

use haft_mcp::measured::Measured;
use haft_mcp::{Era, ServerProgram};
use left_behind::{counts, hostile_server};
use serde_json::json;

#[tokio::test]
async fn fifty_connections_leave_no_descriptor_no_process_and_no_task() {
    let once = async |era, call: &str| {
        let no_arguments: [&str; 0] = [];
        let session =
            Measured::connect(ServerProgram::new(hostile_server(), no_arguments), era).await.unwrap();
        // A server that dies in the call is closed as well.
        let _ = session.call(call, json!({ "text": "hi", "code": 1 })).await;
        session.close().await;
    };
    // What is made once for all is made now.
    once(Era::Modern, "echo").await;
    let before = counts();
    for round in 0..50 {
        let era = if round % 2 == 0 { Era::Modern } else { Era::Legacy };
        once(era, if round % 5 == 0 { "die" } else { "echo" }).await;
    }
    assert_eq!(counts(), before, "descriptors, children, tasks");
}
