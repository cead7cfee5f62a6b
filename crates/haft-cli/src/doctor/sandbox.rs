use super::Finding;
use crate::config::Configuration;
use crate::policy_setup::{PolicyAhead, PolicyOptions, PolicySetup};
use haft::Workdir;
use haft::policy::SandboxMode;
use haft::shell::{Sandbox, SandboxLack, ShellSandbox, control_groups};

/// Looks how far commands can be confined here, and whether that is as far as is wanted.
pub(super) fn look(workdir: &Workdir) -> Vec<Finding> {
    let options = PolicyOptions::default();
    let ahead = |configuration: Configuration| {
        PolicyAhead::of(PolicySetup::new(&configuration, workdir, None), &options).sandbox()
    };
    // What is wrong with the files is told as such.
    let mode = Configuration::read(workdir).map_or(SandboxMode::Off, ahead);
    let lacks = ShellSandbox::prefer().lacks();
    let mut findings = vec![confined(mode, &lacks)];
    findings.extend(
        lacks
            .into_iter()
            .filter(|lack| lack.is_of_limits())
            .map(|lack| Finding::note("sandbox", lack.to_string())),
    );
    findings.push(match control_groups() {
        Some(place) => Finding::ok("processes", format!("each call's are held in a control group below `{}`", place.display())),
        None => Finding::note(
            "processes",
            "control groups cannot be made here: a process that sets `ulimit -x` on purpose can outlive its call",
        )
        .next("run haft in a unit with `Delegate=yes`, or as root where cgroup v2 can be written, if that matters here"),
    });
    findings
}

fn confined(mode: SandboxMode, lacks: &[SandboxLack]) -> Finding {
    let weaker: Vec<String> =
        lacks.iter().filter(|lack| !lack.is_of_limits()).map(ToString::to_string).collect();
    let has: Vec<String> = Sandbox::probe()
        .to_string()
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.starts_with("bubblewrap"))
        .collect();
    let has = has.join("; ");
    let told = |finding: Finding| weaker.iter().fold(finding, Finding::because);
    match (mode, weaker.is_empty()) {
        (SandboxMode::Off, true) => Finding::ok("sandbox", format!("off, and all of it can be had: {has}")),
        (mode, true) => Finding::ok("sandbox", format!("{mode}: {has}")),
        (SandboxMode::Off, false) => {
            told(Finding::note("sandbox", "off, and it would be weaker here than it can be"))
        }
        (SandboxMode::Require, false) => {
            told(Finding::error("sandbox", "it is required, and cannot be had here, so no command runs"))
                .next(
                    "provide what is missing, or write `mode = \"prefer\"` in `[sandbox]` to do with what there is",
                )
        }
        (_, false) => told(Finding::warning("sandbox", "it is preferred, and weaker here than it can be"))
            .next(
                "provide what is missing, or write `mode = \"require\"` in `[sandbox]` to run nothing without it",
            ),
    }
}
