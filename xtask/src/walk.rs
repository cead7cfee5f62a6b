//! `cargo xtask walk`: the pages of the guide are played as a new user would follow them, in an empty home directory.
//!
//! Each block of a page that is marked `console` is a part of its script: what follows `$ ` is run by bash, what follows `> ` belongs to
//! it, and the lines below are what has to be printed. A command that ends with `&` goes on until the page is at its end. Blocks of
//! other kinds, such as `sh`, are only read.

mod home;
mod page;
mod stable;

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use crate::built::Built;
use crate::docs::{Mode, Programs};
use crate::step::{Failure, StepResult};
use crate::workspace::Workspace;
use home::Home;
use page::{Part, parse, written};

const REPAIR: &str =
    "Look at what is printed now; if it is meant so, `cargo xtask walk --update` writes it into the page.";

const FOLDER: &str = "docs/guide";

/// Where the Inspector of `cargo xtask mcp-clients` is put.
const CLIENTS: &str = "target/mcp-clients/node_modules/.bin";

/// Plays every page that has something to play.
pub(crate) fn run(workspace: &Workspace, mode: Mode, programs: Programs) -> StepResult {
    let problems =
        play_all(workspace, mode, programs).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Failure::unless_empty(&problems, REPAIR)
}

fn play_all(workspace: &Workspace, mode: Mode, programs: Programs) -> anyhow::Result<Vec<String>> {
    let built = programs.built(workspace)?;
    let mut pages = Vec::new();
    for entry in
        std::fs::read_dir(workspace.root().join(FOLDER)).with_context(|| format!("cannot list {FOLDER}"))?
    {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if std::path::Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            pages.push(format!("{FOLDER}/{name}"));
        }
    }
    pages.sort();
    let mut problems = Vec::new();
    for page in pages {
        problems.extend(play(workspace, &built, &page, mode)?);
    }
    Ok(problems)
}

/// Plays one page; says what is printed otherwise than it says.
fn play(workspace: &Workspace, built: &Built, page: &str, mode: Mode) -> anyhow::Result<Vec<String>> {
    let path = workspace.root().join(page);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {page}"))?;
    let mut parts = parse(&text);
    if !parts.iter().any(|part| matches!(part, Part::Block(_))) {
        return Ok(Vec::new());
    }
    eprintln!("playing {page}");
    let clients = clients(workspace)?;
    let mut home = Home::new(workspace, built, clients.as_deref())?;
    let mut problems = Vec::new();
    for block in parts.iter_mut().filter_map(Part::block) {
        if block.needs_inspector && clients.is_none() {
            eprintln!(
                "{page}:{}: left out, since `cargo xtask mcp-clients` has installed no Inspector",
                block.line
            );
            continue;
        }
        for step in &mut block.steps {
            let printed = home.run(&step.command).with_context(|| format!("{page}:{}", step.line))?;
            if printed != step.output {
                problems.push(format!(
                    "{page}:{}: `{}` prints\n{printed}and the page says\n{}",
                    step.line, step.command, step.output
                ));
                step.output = printed;
            }
        }
    }
    if mode == Mode::Rewrite && !problems.is_empty() {
        std::fs::write(&path, written(&parts)).with_context(|| format!("cannot write {page}"))?;
        println!("{page} rewritten");
        problems.clear();
    }
    Ok(problems)
}

/// Finds the programs of real clients; the build host has to have them.
fn clients(workspace: &Workspace) -> anyhow::Result<Option<PathBuf>> {
    let folder = workspace.root().join(CLIENTS);
    if folder.is_dir() {
        return Ok(Some(folder));
    }
    if workspace.on_ci() {
        bail!("{CLIENTS} is missing: run `cargo xtask mcp-clients` before, which installs the Inspector");
    }
    Ok(None)
}
