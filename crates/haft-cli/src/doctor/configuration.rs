use super::Finding;
use crate::config::Checked;
use haft::Workdir;

const ABOUT: &str = "configuration";

/// Looks at all that the files in force say, and runs their tests.
pub(super) fn look(workdir: &Workdir) -> Vec<Finding> {
    let checked = match Checked::of(workdir) {
        Ok(checked) => checked,
        Err(error) => return vec![Finding::of_error(ABOUT, &error)],
    };
    let mut findings = Vec::new();
    for problem in checked.policy_problems() {
        let place = match (problem.line(), problem.column()) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", problem.file()),
            _ => problem.file().to_owned(),
        };
        let finding = Finding::error(ABOUT, format!("{place}: {}", problem.message()));
        let finding = problem.notes().iter().fold(finding, Finding::because);
        findings.push(finding.next("correct it; `haft config check` shows the line"));
    }
    for problem in &checked.problems {
        findings.push(Finding::error(ABOUT, problem).next("correct it; `haft config check` looks again"));
    }
    findings.extend(checked.notes.iter().map(|note| Finding::note(ABOUT, note)));
    if findings.iter().all(|finding| finding.severity < super::Severity::Warning) {
        findings.insert(0, well(&checked));
    }
    findings
}

fn well(checked: &Checked) -> Finding {
    if checked.files.is_empty() {
        let text = "there is no `haft.toml`, neither yours nor one here: looking is allowed, all else is asked about";
        return Finding::ok(ABOUT, text).next("`haft init` writes one for the project that is here");
    }
    let files = haft::tools_core::listed(checked.files.iter().map(String::as_str), "and");
    let tests = match checked.tests_passed {
        0 => String::new(),
        1 => ", 1 test passed".to_owned(),
        tests => format!(", {tests} tests passed"),
    };
    Finding::ok(ABOUT, format!("{files}{tests}"))
}
