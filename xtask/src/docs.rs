//! `cargo xtask docs`: the generated parts of the pages are fresh, their links lead somewhere, the README stays short.

mod cookbook;
mod dependencies;
mod described;
mod events;
mod feature_table;
mod messages;
mod named_features;
mod plots;
mod reference;
mod shown;
#[cfg(test)]
mod tests;
mod tools;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::built::Built;
use crate::links::{self, Target};
use crate::metadata::{Graph, Package, Standing};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Run `cargo xtask docs`, which rewrites the generated pages and tables, and correct by hand what it \
                      still names.";

const README: &str = "README.md";

/// The README has to stay below this number of lines; what is longer belongs into `docs/`.
const README_LINES: usize = 200;

/// The package whose features are documented.
const FACADE: &str = "haft";

/// What to do about a table that is not what the manifests say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Writes it again.
    Rewrite,
    /// Names the page and fails.
    Check,
}

/// Prints how many public items have an example, and names those that have none.
pub(crate) fn count(workspace: &Workspace) -> StepResult {
    let counted = Graph::of_manifests(workspace).and_then(|graph| shown::table(workspace.root(), &graph));
    print!("{}", counted.map_err(|error| Failure::from_error(&error, REPAIR))?);
    Ok(Outcome::Done)
}

/// Says where the command comes from that pages are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Programs {
    /// It is built.
    Build,
    /// It was built before, and is taken as it is.
    AsTheyAre,
}

impl Programs {
    pub(crate) fn built(self, workspace: &Workspace) -> anyhow::Result<Built> {
        match self {
            Self::Build => Built::all(workspace),
            Self::AsTheyAre => Ok(Built::before(workspace)),
        }
    }
}

/// Checks the pages, after rewriting them if that is asked for.
pub(crate) fn run(workspace: &Workspace, mode: Mode, programs: Programs) -> StepResult {
    let problems =
        problems(workspace, mode, programs).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Failure::unless_empty(&problems, REPAIR)
}

fn problems(workspace: &Workspace, mode: Mode, programs: Programs) -> anyhow::Result<Vec<String>> {
    let root = workspace.root();
    let graph = Graph::resolved(workspace)?;
    let manifests = read_manifests(root, &graph)?;
    let mut pages = read_pages(root)?;
    let mut problems = Vec::new();
    match pages.get_mut(README) {
        None => problems.push(format!(
            "{README} is missing: write it with the lines `{}` and `{}`, between which the table goes",
            Table::Crates.start(),
            Table::Crates.end(),
        )),
        Some(readme) => match generated(readme, &graph, &manifests) {
            Err(mut faults) => problems.append(&mut faults),
            Ok(fresh) if fresh == *readme => {}
            Ok(fresh) if mode == Mode::Rewrite => {
                std::fs::write(root.join(README), &fresh)
                    .with_context(|| format!("cannot write {README}"))?;
                println!("{README} rewritten");
                *readme = fresh;
            }
            Ok(_) => problems.push(format!("{README} is stale: its tables differ from the manifests")),
        },
    }
    problems.extend(pages.get(README).and_then(|readme| too_long(readme)));
    for (page, fresh) in reference::pages(workspace, &graph, &manifests, programs, &mut problems)? {
        let kept = std::fs::read_to_string(root.join(&page));
        if kept.is_ok_and(|kept| kept == fresh) {
            continue;
        }
        if mode == Mode::Check {
            problems.push(format!("{page} is stale: what it is made of has changed"));
            continue;
        }
        std::fs::write(root.join(&page), &fresh).with_context(|| format!("cannot write {page}"))?;
        println!("{page} rewritten");
        if is_markdown(&page) {
            pages.insert(page, fresh);
        }
    }
    problems.extend(named_features::unknown(&pages, &graph));
    problems.extend(links::broken(&pages, &|path| look_at(root, path)));
    problems.extend(shown::problems(root, &graph)?);
    Ok(problems)
}

/// Reads every manifest that has features, by its path.
fn read_manifests(root: &Path, graph: &Graph) -> anyhow::Result<BTreeMap<String, String>> {
    let with_features = graph.packages.iter().filter(|package| !package.features.is_empty());
    with_features.map(|package| Ok((package.manifest.clone(), read(root, &package.manifest)?))).collect()
}

/// Reads the README, if there is one, and every page below `docs/`.
fn read_pages(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    if root.join(README).is_file() {
        pages.insert(README.to_owned(), read(root, README)?);
    }
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        if !root.join(&folder).is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(root.join(&folder)).with_context(|| format!("cannot list {folder}"))? {
            let entry = entry.with_context(|| format!("cannot list {folder}"))?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            // A link to a folder is not entered, so that the walk ends.
            let kind = entry.file_type().with_context(|| format!("cannot look at {path}"))?;
            if kind.is_dir() {
                folders.push(path);
            } else if is_markdown(&path) {
                let text = read(root, &path)?;
                pages.insert(path, text);
            }
        }
    }
    Ok(pages)
}

fn read(root: &Path, path: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// Finds out what a link leads to; the path is relative to the root and cannot leave it.
fn look_at(root: &Path, path: &str) -> Target {
    let found = root.join(path);
    if !found.exists() {
        return Target::Missing;
    }
    match std::fs::read_to_string(&found) {
        Ok(text) if is_markdown(path) => Target::Page(text),
        _ => Target::Other,
    }
}

fn too_long(readme: &str) -> Option<String> {
    let lines = readme.lines().count();
    (lines >= README_LINES).then(|| {
        format!("{README} has {lines} lines: move what a first reader can do without into docs/ until it has fewer than {README_LINES}")
    })
}

/// A part of a page that is written by this command.
#[derive(Debug, Clone, Copy)]
enum Table {
    Crates,
    Features,
}

impl Table {
    fn start(self) -> &'static str {
        match self {
            Self::Crates => "<!-- crates:start -->",
            Self::Features => "<!-- features:start -->",
        }
    }

    fn end(self) -> &'static str {
        match self {
            Self::Crates => "<!-- crates:end -->",
            Self::Features => "<!-- features:end -->",
        }
    }
}

/// Writes the README as the manifests want it, or says what keeps it from being written.
fn generated(
    readme: &str,
    graph: &Graph,
    manifests: &BTreeMap<String, String>,
) -> Result<String, Vec<String>> {
    let mut problems = Vec::new();
    let mut page = readme.to_owned();
    let crates = crate_table(&graph.packages, &mut problems);
    replace(&mut page, Table::Crates, &crates, &mut problems);
    for package in graph.packages.iter().filter(|package| package.is_under("crates")) {
        let manifest = manifests.get(&package.manifest).map_or("", String::as_str);
        let features = feature_table::parse(manifest);
        problems.extend(feature_table::undescribed(package, &features));
        if package.name == FACADE && !package.features.is_empty() {
            replace(&mut page, Table::Features, &feature_table::render(&features), &mut problems);
        }
    }
    if problems.is_empty() { Ok(page) } else { Err(problems) }
}

/// Lists the crates, the ones a user meets first at the top.
fn crate_table(packages: &[Package], problems: &mut Vec<String>) -> String {
    let mut crates: Vec<&Package> = packages.iter().filter(|package| package.is_under("crates")).collect();
    crates.sort_by_key(|package| match package.standing {
        Standing::Layer(layer) => (u8::MAX - layer, &package.name),
        Standing::Beside | Standing::Unsaid | Standing::Unclear(_) => (u8::MAX, &package.name),
    });
    let mut table = "| crate | layer | what it holds |\n| --- | --- | --- |\n".to_owned();
    for package in crates {
        let Package { name, manifest, .. } = package;
        let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or(manifest);
        let layer = match package.standing {
            Standing::Layer(layer) => format!("L{layer}"),
            Standing::Beside | Standing::Unsaid | Standing::Unclear(_) => "beside".to_owned(),
        };
        match package.description.as_deref().map(str::trim) {
            None | Some("") => problems.push(format!("{manifest}: there is no `description`")),
            Some(description) => {
                let _ = writeln!(table, "| [`{name}`]({folder}) | {layer} | {} |", cell(description));
            }
        }
    }
    table
}

/// Makes a text fit into one cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Puts a table between its markers.
fn replace(page: &mut String, table: Table, body: &str, problems: &mut Vec<String>) {
    match between(page, table) {
        Ok(range) => page.replace_range(range, body),
        Err(fault) => problems.push(format!("{README}: {fault:#}")),
    }
}

/// Finds the bytes between the two markers of a table, each of which stands alone on its line.
fn between(page: &str, table: Table) -> anyhow::Result<std::ops::Range<usize>> {
    let (_, start) = only_line(page, table.start())?;
    let (end, _) = only_line(page, table.end())?;
    if start > end {
        bail!("`{}` stands below `{}`", table.start(), table.end());
    }
    Ok(start..end)
}

/// Finds where the one line that is this marker begins and where the next line begins.
fn only_line(page: &str, marker: &str) -> anyhow::Result<(usize, usize)> {
    let mut offset = 0;
    let mut found = None;
    for line in page.split_inclusive('\n') {
        if line.trim() == marker {
            if found.is_some() {
                bail!("the line `{marker}` stands there twice");
            }
            found = Some((offset, offset + line.len()));
        }
        offset += line.len();
    }
    found.with_context(|| format!("the line `{marker}` is missing"))
}
