use super::{Finding, Severity};
use crate::paint::{ASKS, ERROR, GOOD, NAME, QUIET};
use crate::timeline::visible;
use anstyle::Style;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// The version of what `--json` prints; it changes when a member goes or means something else.
const VERSION: u32 = 1;

/// Prints what was found, a line for each with what to do below it.
pub(super) fn print(findings: &[Finding]) {
    let width = findings.iter().map(|finding| finding.about.chars().count()).max().unwrap_or_default();
    for Finding { severity, about, text, because, next } in findings {
        let (style, word) = (style(*severity), word(*severity));
        let indent = 9 + width + 2;
        let mut lines = text.lines().map(visible);
        let first = lines.next().unwrap_or_default();
        outln!("{style}{word:7}{style:#}  {NAME}{:width$}{NAME:#}  {first}", visible(about));
        lines.for_each(|line| outln!("{:indent$}{line}", ""));
        for cause in because {
            outln!("{:indent$}{QUIET}because: {}{QUIET:#}", "", visible(cause));
        }
        if let Some(next) = next {
            outln!("{:indent$}next: {}", "", visible(next));
        }
    }
    let (errors, warnings) = (counted(findings, Severity::Error), counted(findings, Severity::Warning));
    outln!();
    match (errors, warnings) {
        (0, 0) => outln!("All is well."),
        (0, warnings) => outln!("It works; {}.", several(warnings, "warning")),
        (errors, warnings) => {
            outln!("{}, {}.", several(errors, "error"), several(warnings, "warning"));
        }
    }
}

/// What was found.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DoctorReport {
    /// The version of the form.
    version: u32,
    /// The directory that was looked at; `null` where it cannot be opened.
    workdir: Option<String>,
    /// How many findings are errors.
    errors: usize,
    /// How many are warnings.
    warnings: usize,
    /// Each finding.
    findings: Vec<Finding>,
}

impl DoctorReport {
    pub(super) fn new(workdir: Option<&Path>, findings: Vec<Finding>) -> Self {
        Self {
            version: VERSION,
            workdir: workdir.map(|path| path.to_string_lossy().into_owned()),
            errors: counted(&findings, Severity::Error),
            warnings: counted(&findings, Severity::Warning),
            findings,
        }
    }
}

fn counted(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}

fn several(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "ok",
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Ok => GOOD,
        Severity::Note => QUIET,
        Severity::Warning => ASKS,
        Severity::Error => ERROR,
    }
}
