//! What a reply without end costs in memory.
#![expect(clippy::unwrap_used, reason = "what cannot be measured fails the test")]
#![expect(unsafe_code, reason = "an allocator that counts hands everything on to the system's")]

use haft_http::{AddressPolicy, HttpClient};
use haft_openapi::{CallLimits, Document, LoadOptions, OpenApiTools};
use haft_tools_core::{CallContext, CallScope};
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes that all threads hold, and the most that they did.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grown(bytes: usize) {
    PEAK.fetch_max(HELD.fetch_add(bytes, Ordering::Relaxed) + bytes, Ordering::Relaxed);
}

// SAFETY: every call is handed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How many bytes are read at most.
const CAP: usize = 8 << 20;

#[tokio::test]
async fn a_reply_of_a_gigabyte_is_cut_within_twice_what_is_taken_of_it() {
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
    let limits = CallLimits { most_bytes: CAP, ..CallLimits::default() };
    let tools = OpenApiTools::builder("api", document, client).limits(limits).build();
    let scope = || CallScope::new("r".parse().unwrap());
    let prepared = tools.tools()[0].prepare(&json!({}), &scope()).unwrap();

    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let output = prepared.run(CallContext::detached("c".parse().unwrap(), scope())).await.unwrap();
    let peak = PEAK.load(Ordering::Relaxed) - before;
    assert!(output.to_text().contains("[this is cut: the API goes on after these 8388608 bytes;"));
    // The runtime has to go on for the connection to end.
    let was_sent = tokio::task::spawn_blocking(move || server.join().unwrap()).await.unwrap();
    assert!(!was_sent, "all of it was sent");
    assert!(peak < 2 * CAP, "{peak} bytes were held at once");
}
