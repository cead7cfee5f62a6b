//! What a reply without end costs in memory.

use haft_http::{AddressPolicy, HttpClient};
use haft_openapi::{Document, LoadOptions, OpenApiTools, OperationLimits};
use haft_testkit::counting::{Counting, most_live};
use haft_tools_core::{CallContext, CallScope};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many bytes are read at most.
const CAP: usize = 8 << 20;

#[test]
fn a_reply_of_a_gigabyte_is_cut_within_twice_what_is_taken_of_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let piece = [b'a'; 16 << 10];
        let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        for _ in 0..(1_usize << 30) / piece.len() {
            sent = sent.and_then(|()| stream.write_all(&piece));
        }
        sent.is_ok()
    });
    let document = json!({
        "openapi": "3.1.0", "servers": [{ "url": format!("http://{address}") }],
        "paths": { "/a": { "get": { "operationId": "op" } } },
    });
    let document = Document::from_value(document, &LoadOptions::default()).unwrap();
    let client = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let limits = OperationLimits { most_bytes: CAP, ..OperationLimits::default() };
    let tools = OpenApiTools::builder("api", document, client).limits(limits).build();
    let scope = || CallScope::new("r".parse().unwrap());
    let prepared = tools.tools()[0].prepare(&json!({}), &scope()).unwrap();

    // All of it runs on this thread, which is the one that is counted.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = prepared.run(CallContext::detached("c".parse().unwrap(), scope()));
    let (output, most) = most_live(|| runtime.block_on(call).unwrap());
    assert!(output.to_text().contains("[this is cut: the API goes on after these 8388608 bytes;"));
    assert!(
        usize::try_from(most).is_ok_and(|most| CAP < most && most < 2 * CAP),
        "{most} bytes were held at once"
    );
    // The connection ends with what runs it.
    drop(runtime);
    assert!(!server.join().unwrap(), "all of it was sent");
}
