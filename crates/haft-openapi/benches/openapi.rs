//! Measures how long it takes to read a document, beside reading its JSON, and to make a request.
//!
//! Run it with `cargo xtask bench openapi`. The document is that of GitHub, which `cargo xtask corpus --examples` installs; without
//! it only requests are measured. Only the ratio of a time to its floor travels from one machine to another.

#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use haft_http::{AddressPolicy, HttpClient};
use haft_openapi::{Document, LoadOptions, OpenApiTools};
use haft_testkit::counting::{Counting, Spent};
use haft_tools_core::{Tool as _, ToolRegistry};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// GitHub's document, below the root of the repository.
const GITHUB: &str = "target/openapi/examples/node_modules/@octokit/openapi/generated/api.github.com.json";

const ROUNDS: usize = 15;
const REQUESTS: u32 = 10_000;

const PETS: &str = r#"
openapi: 3.1.0
servers: [ { url: "https://pets.example/v1" } ]
paths:
  /pets/{id}/visits:
    get:
      operationId: findVisits
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - { name: fields, in: query, schema: { type: array, items: { type: string } } }
        - { name: filter, in: query, style: deepObject, schema: { type: object } }
        - { name: X-Trace, in: header, schema: { type: string } }
    post:
      operationId: addVisit
      parameters: [ { name: id, in: path, required: true, schema: { type: string } } ]
      requestBody:
        required: true
        content: { application/json: { schema: { properties: { day: { type: string }, by: { type: object } } } } }
    put:
      operationId: sendPicture
      parameters: [ { name: id, in: path, required: true, schema: { type: string } } ]
      requestBody:
        required: true
        content: { multipart/form-data: { schema: { properties: { of: {}, file: { type: string, format: binary } } } } }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    requests()?;
    println!();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match std::fs::read_to_string(root.join(GITHUB)) {
        Ok(text) => loading(&text)?,
        Err(_) => {
            println!("`cargo xtask corpus --examples` installs the document that reading is measured with");
        }
    }
    Ok(())
}

fn requests() -> Result<(), Box<dyn std::error::Error>> {
    let document = Document::from_text(PETS, &LoadOptions::default())?;
    let filter = json!({ "since": "2026-01-01", "by": { "name": "v al/ue&1" } });
    let cases: [(&str, &str, Value); 3] = [
        (
            "path, list, object and header",
            "findVisits",
            json!({ "id": "a/b", "fields": ["x", "y&z"], "filter": filter, "X-Trace": "t" }),
        ),
        (
            "body of JSON",
            "addVisit",
            json!({ "id": "a/b", "day": "2026-01-01", "by": { "name": "v al/ue&1" } }),
        ),
        (
            "form with a file of 1 KiB",
            "sendPicture",
            json!({ "id": "a/b", "of": "Rex", "file": "x".repeat(1024) }),
        ),
    ];
    println!("| a request with | µs | allocations |");
    println!("|---|---:|---:|");
    for (name, id, arguments) in cases {
        let operation = document.operation(id).ok_or("no such operation")?;
        operation.encode(&arguments)?;
        let before = Spent::so_far();
        drop(operation.encode(&arguments));
        let allocations = (Spent::so_far() - before).allocations;
        let time = fastest(|| {
            for _ in 0..REQUESTS {
                let _ = black_box(operation.encode(black_box(&arguments)));
            }
        });
        println!("| {name} | {:.2} | {allocations} |", time.as_secs_f64() * 1e6 / f64::from(REQUESTS));
    }
    Ok(())
}

fn loading(text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let options = LoadOptions::default();
    let client = HttpClient::new(AddressPolicy::public())?;
    let tools_of = |document| OpenApiTools::builder("github", document, client.clone()).build();
    let floor = fastest(|| drop(black_box(serde_json::from_str::<Value>(text))));
    let before = Spent::so_far();
    let document = Document::from_text(text, &options)?;
    let spent = Spent::so_far() - before;
    println!("| GitHub's document | ms | to its JSON | MB held | allocations |");
    println!("|---|---:|---:|---:|---:|");
    let row = |what: &str, time: Duration| {
        let ratio = time.as_secs_f64() / floor.as_secs_f64();
        format!("| {what} | {:.0} | {ratio:.2}", time.as_secs_f64() * 1e3)
    };
    println!("{} | | |", row("its JSON as a `Value`", floor));
    let listed = fastest(|| drop(black_box(Document::from_text(text, &options).map(tools_of))));
    let listed = row(&format!("a tool for each of {} operations", document.len()), listed);
    println!("{listed} | {} | {} |", spent.live / 1_000_000, spent.allocations);
    let described = fastest(|| {
        let tools = tools_of(document.clone()).tools();
        black_box(tools.iter().map(|tool| tool.spec().description().len()).sum::<usize>());
    });
    println!("{} | | |", row("what a model is told of all of them, their schemas among it", described));
    let checked = fastest(|| drop(black_box(ToolRegistry::admit(tools_of(document.clone()).tools()))));
    println!("{} | | |", row("the same, and their schemas made ready to check calls", checked));
    Ok(())
}

/// The fastest of several measurements, since noise only ever adds.
fn fastest(work: impl Fn()) -> Duration {
    let measured = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    measured.min().unwrap_or_default()
}
