//! Asks a judge, which is prism serving the same document, whether it takes the requests that are made of a document.
//!
//! `cargo run -p haft-openapi --example judged -- DOCUMENT SERVER [MOST]` makes arguments for each operation of the document
//! from its own schema, once all of them and once only those that are required, or so for MOST operations from all over the
//! document. It fails if a request is rejected that is not on the list of the judge's own faults, `faults.json`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that speaks on the terminal")]

mod generate;
mod prism;

use generate::Extent;
use haft_openapi::{Document, LoadOptions, Operation};
use haft_tools_core::CompiledSchema;
use prism::Prism;
use serde::Deserialize;
use serde_json::Value;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Is something that the judge rejects and the document allows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    /// The names of the documents, each behind the version that its folder is called after.
    documents: Vec<String>,
    /// The operations, as `GET /path`.
    operations: Vec<String>,
    /// Whether only `All` arguments are meant or only those that are `Required`.
    extent: Option<String>,
    /// A part of what the judge says; nothing where it is not asked since it would break down.
    says: Option<String>,
    /// Why it is no fault of the request.
    #[expect(dead_code, reason = "for who reads the list")]
    reason: String,
}

/// Counts what became of the requests.
#[derive(Debug, Default)]
struct Report {
    accepted: usize,
    /// How often each fault of the list was met.
    excused: Vec<usize>,
    rejected: Vec<String>,
    /// Operations for which no arguments that fit could be made.
    unfit: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match judge(&arguments).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Has every request of a document judged; tells whether none is rejected.
async fn judge(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    let [file, server, ..] = arguments else {
        return Err("give a document and the address of the judge".into());
    };
    let file = Path::new(file);
    let most: usize = arguments.get(2).map_or(Ok(usize::MAX), |most| most.parse())?;
    let faults: Vec<Fault> = serde_json::from_str(include_str!("faults.json"))?;
    let name = name(file);
    let of_document = |fault: &Fault| fault.documents.contains(&name);
    let document = Document::from_file(file, &LoadOptions::default().server(server))?;
    let all: Vec<Operation> = document.operations().collect();
    let number = most.min(all.len());
    let chosen = (0..number).map(|index| &all[index * all.len() / number]);
    let judge = Prism::new(file)?;
    let mut report = Report { excused: vec![0; faults.len()], ..Report::default() };
    for operation in chosen {
        for extent in [Extent::All, Extent::Required] {
            let place = format!("{} {}", operation.method(), operation.path());
            let known = |says: &dyn Fn(Option<&str>) -> bool| {
                faults.iter().position(|fault| {
                    of_document(fault)
                        && fault.operations.contains(&place)
                        && fault.extent.as_ref().is_none_or(|of| *of == format!("{extent:?}"))
                        && says(fault.says.as_deref())
                })
            };
            if let Some(fault) = known(&|says| says.is_none()) {
                report.excused[fault] += 1;
                continue;
            }
            let Some(arguments) = fitting(operation, extent) else {
                report.unfit.push(format!("{place} ({extent:?}): no arguments that fit are made"));
                continue;
            };
            let Some(said) = judge.says(operation, &arguments).await? else {
                report.accepted += 1;
                continue;
            };
            match known(&|says| says.is_some_and(|says| said.contains(says))) {
                Some(fault) => report.excused[fault] += 1,
                None => report.rejected.push(format!("{place} ({extent:?}): {said}\n    {arguments}")),
            }
        }
    }
    show(&name, number, &report);
    let mut is_good = report.rejected.is_empty() && report.unfit.is_empty() && report.accepted > 0;
    for (fault, met) in faults.iter().zip(&report.excused) {
        if of_document(fault) && *met == 0 {
            eprintln!(
                "  {:?} of {:?} is not met any more; take it off the list",
                fault.says, fault.operations
            );
            is_good = false;
        }
    }
    Ok(is_good)
}

fn show(name: &str, number: usize, report: &Report) {
    for line in report.rejected.iter().chain(&report.unfit) {
        eprintln!("  {line}");
    }
    println!(
        "{name}: {number} operations, {} requests accepted, {} rejected, {} excused; {} without arguments that fit",
        report.accepted,
        report.rejected.len(),
        report.excused.iter().sum::<usize>(),
        report.unfit.len(),
    );
}

/// Calls a document after its file, and the version that stands in its path.
fn name(file: &Path) -> String {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut folders = file.iter().map(|folder| folder.to_string_lossy());
    match folders.find(|folder| ["3.0", "3.1"].contains(&&**folder)) {
        Some(version) => format!("{version}/{name}"),
        None => name.into_owned(),
    }
}

/// Makes arguments that fit the schema of an operation.
fn fitting(operation: &Operation, extent: Extent) -> Option<Value> {
    let schema = operation.input_schema();
    let value = schema.schema().as_value().clone();
    let compiled = CompiledSchema::compile(value).or_else(|_| {
        let without = schema.without_patterns().into_schema();
        CompiledSchema::compile(without.as_value().clone())
    });
    let compiled = compiled.ok()?;
    let arguments = generate::arguments(compiled.as_value(), extent);
    compiled.check(&arguments).is_ok().then_some(arguments)
}
