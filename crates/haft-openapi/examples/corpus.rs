//! Reads every document below the folders that are named, and says what became of them.
//!
//! `cargo run --release -p haft-openapi --example corpus -- [--schemas] FOLDER…`. It fails if one is refused that is an
//! OpenAPI document at all. With `--schemas`, every schema is made and compiled as well, and every operation is asked for a
//! request. `corpus -- --times FILE…` says how long the parts of it take.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that speaks on the terminal")]
#![expect(unsafe_code, reason = "an allocator that counts hands everything on to the system's")]

use haft_openapi::{Document, EncodeError, LoadOptions, Severity};
use haft_tools_core::CompiledSchema;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Counts the bytes that are held, and the most that were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grown(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: every call is handed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() {
            grown(size - layout.size());
        } else {
            HELD.fetch_sub(layout.size() - size, Ordering::Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// Is what became of the documents of one folder.
#[derive(Default)]
struct Report {
    loaded: usize,
    others: usize,
    refused: Vec<String>,
    operations: usize,
    skipped: Vec<String>,
    notes: BTreeMap<String, usize>,
    without_server: usize,
    shortened: usize,
    schema_bytes: usize,
    largest: (usize, String),
    /// Schemas that could only be compiled without their patterns.
    patterns: usize,
    uncompiled: Vec<String>,
    load_time: Duration,
    schema_time: Duration,
    compile_time: Duration,
    peak: (usize, String),
}

fn main() -> ExitCode {
    let mut folders: Vec<String> = std::env::args().skip(1).collect();
    let with_schemas = folders.first().is_some_and(|first| first == "--schemas");
    if with_schemas {
        folders.remove(0);
    }
    if folders.first().is_some_and(|first| first == "--times") {
        for file in &folders[1..] {
            time(file);
        }
        return ExitCode::SUCCESS;
    }
    let mut is_good = true;
    for folder in folders {
        let mut files = Vec::new();
        collect(Path::new(&folder), &mut files);
        files.sort();
        let mut report = Report::default();
        for file in &files {
            read(file, with_schemas, &mut report);
        }
        show(&folder, &report);
        is_good &= report.refused.is_empty() && report.loaded > 0;
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares the time of reading a document with that of reading its JSON, each at its best of several.
fn time(file: &str) {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return eprintln!("cannot read `{file}`: {error}"),
    };
    let best = |run: &dyn Fn() -> usize| -> (Duration, usize) {
        let mut found = (Duration::MAX, 0);
        for _ in 0..15 {
            let start = Instant::now();
            let count = run();
            found = (found.0.min(start.elapsed()), count);
        }
        found
    };
    let options = LoadOptions::default();
    let json = best(&|| serde_json::from_str::<serde_json::Value>(&text).is_ok().into());
    let loaded = best(&|| Document::from_text(&text, &options).map_or(0, |document| document.len()));
    let Ok(document) = Document::from_text(&text, &options) else { return };
    let schemas = best(&|| document.operations().filter(|one| !one.input_schema().is_shortened()).count());
    let operations: Vec<_> = document.operations().collect();
    let arguments = json!({});
    let requests = best(&|| operations.iter().filter(|one| one.encode(&arguments).is_ok()).count());
    println!("{file}");
    println!("  JSON {:?}, {} operations {:?}", json.0, loaded.1, loaded.0);
    println!("  input schemas {:?}; {} requests without arguments {:?}", schemas.0, requests.1, requests.0);
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    if folder.is_file() {
        files.push(folder.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_document = path
            .extension()
            .is_some_and(|extension| ["json", "yaml", "yml"].iter().any(|known| extension == *known));
        if path.is_dir() {
            collect(&path, files);
        } else if is_document {
            files.push(path);
        }
    }
}

fn read(file: &Path, with_schemas: bool, report: &mut Report) {
    let name = file.display().to_string();
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let options = LoadOptions::default().most_bytes(128 << 20);
    let loaded = Document::from_file(file, &options);
    report.load_time += start.elapsed();
    let peak = PEAK.load(Ordering::Relaxed) - before;
    if peak > report.peak.0 {
        report.peak = (peak, name.clone());
    }
    let document = match loaded {
        Ok(document) => document,
        Err(haft_openapi::LoadError::NotOpenApi(_)) => {
            report.others += 1;
            return;
        }
        Err(error) => {
            report.refused.push(format!("{name}: {error}"));
            return;
        }
    };
    report.loaded += 1;
    report.operations += document.len();
    for problem in document.problems() {
        if problem.severity() == Severity::Skipped {
            report.skipped.push(format!("{name}: {problem}"));
        } else {
            let kind = problem.message().split('`').next().unwrap_or_default().to_owned();
            *report.notes.entry(kind).or_default() += 1;
        }
    }
    if !with_schemas {
        return;
    }
    for operation in document.operations() {
        let start = Instant::now();
        let schema = operation.input_schema();
        report.schema_time += start.elapsed();
        report.shortened += usize::from(schema.is_shortened());
        for note in schema.notes() {
            let kind = note.message().split('`').next().unwrap_or_default().to_owned();
            *report.notes.entry(format!("schema: {kind}")).or_default() += 1;
        }
        let value = schema.schema().as_value().clone();
        let bytes = value.to_string().len();
        report.schema_bytes += bytes;
        let place = || format!("{name}: {} {}", operation.method(), operation.path());
        if bytes > report.largest.0 {
            report.largest = (bytes, place());
        }
        let start = Instant::now();
        if let Err(error) = CompiledSchema::compile(value) {
            report.patterns += 1;
            if CompiledSchema::compile(schema.without_patterns().schema().as_value().clone()).is_err() {
                let error: String = error.to_string().chars().take(200).collect();
                report.uncompiled.push(format!("{}: {error}", place()));
            }
        }
        if let Some(output) = operation.output_schema() {
            let compiled = CompiledSchema::compile(output.without_patterns().schema().as_value().clone());
            if let Err(error) = compiled {
                let error: String = error.to_string().chars().take(200).collect();
                report.uncompiled.push(format!("{} output: {error}", place()));
            }
        }
        report.compile_time += start.elapsed();
        if let Err(EncodeError::Server(_)) = operation.encode(&json!({})) {
            report.without_server += 1;
        }
    }
}

fn show(folder: &str, report: &Report) {
    println!("{folder}");
    println!(
        "  {} documents, {} refused, {} other files; {} operations, {} skipped, {} without a server",
        report.loaded,
        report.refused.len(),
        report.others,
        report.operations,
        report.skipped.len(),
        report.without_server,
    );
    println!(
        "  loaded in {:?}; at most {} kB held, for {}",
        report.load_time,
        report.peak.0 / 1000,
        report.peak.1
    );
    if report.schema_bytes > 0 {
        println!(
            "  {} kB of schemas in {:?}, {} shortened, {} compiled without patterns only, {} not compiled (in {:?}); the largest has {} bytes: {}",
            report.schema_bytes / 1000,
            report.schema_time,
            report.shortened,
            report.patterns,
            report.uncompiled.len(),
            report.compile_time,
            report.largest.0,
            report.largest.1,
        );
    }
    for (note, count) in &report.notes {
        println!("  {count:>6} × {note}");
    }
    for line in report.skipped.iter().take(40) {
        println!("  skipped: {line}");
    }
    for line in report.uncompiled.iter().take(40) {
        println!("  not compiled: {line}");
    }
    for line in &report.refused {
        eprintln!("  refused: {line}");
    }
}
