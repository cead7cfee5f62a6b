use super::javascript;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::io::Read as _;
use std::path::Path;

/// The most bytes that are read of a file that describes a project.
const MOST_BYTES: u64 = 1 << 20;

/// Holds what is found in the directory of a project.
#[derive(Debug, Default)]
pub(super) struct Project {
    /// What it is written in, each with the commands by which it is built and tested.
    pub(super) parts: Vec<Part>,
    pub(super) has_mcp_json: bool,
    pub(super) is_git: bool,
}

/// One language of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Part {
    /// Its name.
    pub(super) language: &'static str,
    /// The file by which it was told.
    pub(super) file: &'static str,
    /// Patterns of commands that build and test it.
    pub(super) commands: Vec<String>,
}

impl Project {
    pub(super) fn of(directory: &Path) -> Self {
        let found =
            [rust(directory), javascript::part(directory), python(directory), go(directory), make(directory)];
        Self {
            parts: found.into_iter().flatten().collect(),
            has_mcp_json: directory.join(".mcp.json").is_file(),
            is_git: directory.join(".git").exists(),
        }
    }

    /// The commands by which it is built and tested, without what may follow them.
    pub(super) fn commands(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| &part.commands).map(|command| command.trim_end_matches(" *"))
    }

    /// Names what was found, for people.
    pub(super) fn describe(&self) -> String {
        if self.parts.is_empty() {
            return "a directory in which no language was recognised".to_owned();
        }
        let parts = self.parts.iter().map(|part| format!("{} (`{}`)", part.language, part.file));
        format!("a project in {}", parts.collect::<Vec<_>>().join(" and "))
    }
}

fn rust(directory: &Path) -> Option<Part> {
    let commands = ["cargo build *", "cargo check *", "cargo clippy *", "cargo fmt *", "cargo test *"];
    is_there(directory, "Cargo.toml").then(|| part("Rust", "Cargo.toml", &commands))
}

fn python(directory: &Path) -> Option<Part> {
    let file = ["pyproject.toml", "setup.py", "requirements.txt"]
        .into_iter()
        .find(|file| is_there(directory, file))?;
    let mut commands = vec!["pytest *", "python -m pytest *", "ruff check *", "ruff format *"];
    if is_there(directory, "uv.lock") {
        commands.extend(["uv run pytest *", "uv run ruff *"]);
    }
    if text(directory, file).is_some_and(|text| text.contains("mypy")) {
        commands.push("mypy *");
    }
    Some(part("Python", file, &commands))
}

fn go(directory: &Path) -> Option<Part> {
    let commands = ["go build *", "go test *", "go vet *", "gofmt *"];
    is_there(directory, "go.mod").then(|| part("Go", "go.mod", &commands))
}

/// Knows of a makefile only the targets that people build and test by.
fn make(directory: &Path) -> Option<Part> {
    let file = ["Makefile", "makefile"].into_iter().find(|file| is_there(directory, file))?;
    let text = text(directory, file)?;
    let has = |target: &&str| {
        text.lines().any(|line| line.split(':').next().is_some_and(|name| name.trim_end() == *target))
    };
    let commands: Vec<String> = ["build", "check", "lint", "test"]
        .into_iter()
        .filter(has)
        .map(|target| format!("make {target}"))
        .collect();
    (!commands.is_empty()).then_some(Part { language: "Make", file, commands })
}

fn part(language: &'static str, file: &'static str, commands: &[&str]) -> Part {
    Part { language, file, commands: commands.iter().map(|command| (*command).to_owned()).collect() }
}

pub(super) fn is_there(directory: &Path, file: &str) -> bool {
    directory.join(file).is_file()
}

/// Reads a small text file; what cannot be read is not known.
pub(super) fn text(directory: &Path, file: &str) -> Option<String> {
    let path = directory.join(file);
    let mut text = String::new();
    if !path.is_file() {
        return None;
    }
    fs::File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}
