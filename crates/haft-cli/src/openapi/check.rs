use super::arguments::CheckOptions;
use super::chosen;
use super::report::{Report, place};
use crate::config::Configuration;
use crate::exit::Exit;
use crate::opened_workdir;
use crate::paint::{ASKS, BAD, GOOD, NAME, QUIET};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use haft::openapi::OpenApiProblem;

/// How many tools a person is shown, and how many of what is odd.
const MOST_SHOWN: usize = 40;

/// Says what becomes of a document.
pub(super) async fn check(options: &CheckOptions) -> Result<Exit> {
    let documents = Configuration::read(&opened_workdir::workdir(None)?)?.documents?;
    let opened = chosen::open(&documents, &options.document.document, &options.document.chosen).await?;
    let report = Report::of(&opened);
    if options.json {
        print_json(&report.told())?;
    } else {
        print(&report, &options.document.document);
    }
    let is_good = report.is_usable() && (!options.strict || report.skipped.is_empty());
    Ok(if is_good { Exit::Done } else { Exit::Failed })
}

fn print(report: &Report<'_>, document: &str) {
    let title = if report.title.trim().is_empty() { document } else { report.title };
    let (tools, tokens) = (report.tools.len(), report.tokens());
    outln!(
        "{NAME}{}{NAME:#}: {GOOD}{}{GOOD:#}, about {tokens} tokens",
        visible(title),
        counted(tools, "tool")
    );
    let width = report.tools.iter().take(MOST_SHOWN).map(|tool| tool.name().len()).max().unwrap_or_default();
    for tool in report.tools.iter().take(MOST_SHOWN) {
        let (name, tokens) = (tool.name(), tool.tokens);
        let more = if tool.is_shortened { ", shortened" } else { "" };
        let operation = visible(&place(&tool.operation));
        outln!("  {NAME}{name:width$}{NAME:#}  {operation}  {QUIET}{tokens} tokens{more}{QUIET:#}");
        for note in &tool.notes {
            outln!("  {:width$}  {QUIET}{}{QUIET:#}", "", visible(note.message()));
        }
    }
    if tools > MOST_SHOWN {
        outln!("  and {} more; `haft openapi list` has all of them", tools - MOST_SHOWN);
    }
    if report.unchosen > 0 {
        outln!("{} not chosen", counted(report.unchosen, "operation"));
    }
    let mut servers = report.tools.iter().filter_map(|tool| tool.no_server.as_deref());
    if let Some(why) = servers.next() {
        let number = 1 + servers.count();
        outln!(
            "\n{BAD}{} without a server{BAD:#}: {}; name it with `--server`, or with `server` in the configuration",
            counted(number, "tool"),
            visible(why)
        );
    }
    problems(
        &format!("{BAD}{} left out{BAD:#}", counted(report.skipped.len(), "operation")),
        &report.skipped,
    );
    problems(&format!("{ASKS}{}{ASKS:#}", counted(report.notes.len(), "note")), &report.notes);
}

fn problems(heading: &str, problems: &[&OpenApiProblem]) {
    if problems.is_empty() {
        return;
    }
    outln!("\n{heading}");
    for problem in problems.iter().take(MOST_SHOWN) {
        let operation = problem.operation().map(|operation| format!("{}: ", visible(operation)));
        outln!("  {}{}", operation.unwrap_or_default(), visible(problem.message()));
        if !problem.pointer().is_empty() {
            outln!("    {QUIET}at {}{QUIET:#}", visible(problem.pointer()));
        }
    }
    if problems.len() > MOST_SHOWN {
        outln!("  and {} more; `--json` has all of them", problems.len() - MOST_SHOWN);
    }
}

fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
