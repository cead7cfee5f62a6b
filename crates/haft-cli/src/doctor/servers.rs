use super::Finding;
use crate::mcp::{Lack, LookedAt, Servers, Way};
use haft::Workdir;
use haft::mcp::{ServerState, ServerStatus};
use std::time::Duration;

/// The most of a server's last lines on its standard error that are told.
const MOST_LINES: usize = 3;

/// Looks whether the servers that are configured can be started, and starts them if there is time for that.
pub(super) async fn look(workdir: Workdir, connecting: Option<Duration>) -> Vec<Finding> {
    // What is wrong with the files is told as such.
    let Ok(servers) = Servers::of(&workdir) else { return Vec::new() };
    let mut findings: Vec<Finding> = servers
        .untrusted()
        .map(|(name, file, trusted_by)| {
            let text =
                format!("it is of `{file}` of the workspace, which is not trusted, and is not started");
            Finding::note(about(name), text).next(format!("look at the file, then run `{trusted_by}`"))
        })
        .collect();
    findings.extend(servers.disabled().iter().map(|name| Finding::note(about(name), "it is disabled")));
    let missing: Vec<Finding> = servers.startable().filter_map(|server| missing(&server)).collect();
    let is_missing = |name: &str| missing.iter().any(|finding| finding.about == about(name));
    match connecting {
        None => {
            findings.extend(
                servers.startable().filter(|server| !is_missing(server.name())).map(|server| found(&server)),
            );
        }
        Some(_) if servers.startable().next().is_none() => {}
        Some(time) => match servers.connect(time).await {
            Ok(statuses) => {
                let there = statuses.iter().filter(|status| !is_missing(status.name.as_str()));
                findings.extend(there.flat_map(|status| stands(status, time)));
            }
            Err(error) => findings.push(Finding::of_error("mcp", &error)),
        },
    }
    findings.extend(missing);
    findings
}

fn about(name: &str) -> String {
    format!("mcp {name}")
}

/// Says what a server needs that is not there.
fn missing(server: &LookedAt<'_>) -> Option<Finding> {
    let Lack { text, next } = server.way().lack()?;
    Some(Finding::error(about(server.name()), text).next(next))
}

fn found(server: &LookedAt<'_>) -> Finding {
    const NOT_STARTED: &str = "`haft doctor --connect` starts it";
    let about = about(server.name());
    match server.way() {
        Way::Program { found: Some(path), .. } => {
            Finding::ok(about, format!("`{}`, not started", path.display())).next(NOT_STARTED)
        }
        Way::Program { found: None, .. } => Finding::ok(about, "not started").next(NOT_STARTED),
        Way::Socket(path) => {
            Finding::ok(about, format!("the socket `{}` is there, not asked", path.display()))
                .next("`haft doctor --connect` asks it")
        }
        Way::Service => Finding::ok(about, "a service, not asked").next("`haft doctor --connect` asks it"),
    }
}

/// Says where a server stands that was to be started, and what of its tools has to be looked at.
fn stands(status: &ServerStatus, time: Duration) -> Vec<Finding> {
    let (name, about) = (&status.name, about(status.name.as_str()));
    let because = |finding: Finding| {
        let finding = status.reason.iter().flat_map(|reason| reason.lines()).fold(finding, Finding::because);
        let words: Vec<&str> = status.last_words.iter().flat_map(|words| words.lines()).collect();
        let last = words.iter().skip(words.len().saturating_sub(MOST_LINES));
        last.fold(finding, |finding, line| finding.because(format!("it said: {line}")))
    };
    let tools = match status.tools {
        1 => "1 tool".to_owned(),
        tools => format!("{tools} tools"),
    };
    let mut findings = vec![match status.state {
        ServerState::Ready => Finding::ok(about.clone(), format!("it answers, and has {tools}")),
        ServerState::Degraded => because(Finding::warning(
            about.clone(),
            format!("it answers, and has {tools}; something of it cannot be used"),
        ))
        .next(format!("see `haft mcp status {name}`")),
        ServerState::NeedsLogin => {
            Finding::warning(about.clone(), "it needs a login").next(format!("run `haft mcp login {name}`"))
        }
        ServerState::Starting | ServerState::Configured => {
            because(Finding::error(about.clone(), format!("it did not answer within {} s", time.as_secs())))
                .next(format!("give more time with `--connect-time`, and see `haft mcp logs {name}`"))
        }
        _ => because(Finding::error(about.clone(), "it cannot be started"))
            .next(format!("put right what the cause says; `haft mcp status {name}` tries again")),
    }];
    findings.extend(status.notices.iter().take(MOST_LINES).map(|notice| {
        Finding::warning(about.clone(), notice.to_string()).next(format!("see `haft mcp accept {name}`"))
    }));
    findings
}
