//! `haft init`: writes a `haft.toml` for the project that is here.

mod javascript;
mod project;
mod written;

use crate::config::Configuration;
use crate::exit::{Exit, UsageError};
use crate::opened_workdir;
use crate::own_tools;
use crate::paint::{GOOD, NAME};
use crate::policy_setup::{PolicySetup, TrustStore, WorkspaceFile};
use crate::printed::print_json;
use crate::timeline::visible;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::{Context as _, Result};
use clap::Args;
use haft::Workdir;
use haft::tools_core::PrivateFiles;
use project::{Part, Project};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

pub(crate) use written::FOR_USER;

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// The directory of the project; the current one by default
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    workdir: Option<PathBuf>,
    /// Write your own file, which holds in all directories
    #[arg(long)]
    user: bool,
    /// Name the JSON Schema for editors in its first line: a path or an address
    #[arg(long, value_name = "PLACE", value_parser = schema_place)]
    schema: Option<String>,
    /// Print it, and write nothing
    #[arg(long)]
    print: bool,
    /// Print what was written, or would be, as JSON
    #[arg(long)]
    json: bool,
}

/// Reads a place that fits on the line of a comment.
fn schema_place(text: &str) -> Result<String, String> {
    let fits = !text.trim().is_empty() && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    fits.then(|| text.to_owned())
        .ok_or_else(|| "write a path or an address without blanks, as in `./haft.schema.json`".to_owned())
}

/// Has editors find the schema.
fn with_schema(text: &str, schema: Option<&str>) -> String {
    match schema {
        Some(place) => format!("#:schema {place}\n\n{text}"),
        None => text.to_owned(),
    }
}

/// Writes the file, or prints it.
pub(crate) fn init(options: &InitOptions) -> Result<Exit> {
    if options.user {
        return for_user(options);
    }
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let project = Project::of(workdir.root_path());
    let text = with_schema(&written::for_project(&project), options.schema.as_deref());
    let path = options.workdir.as_deref().unwrap_or(Path::new("")).join(POLICY_FILE);
    let shown = visible(&path.display().to_string());
    if options.print {
        return InitReport::nothing(shown, text).of(&project).print(options.json);
    }
    if options.workdir.is_none() {
        check_is_project(workdir.root_path())?;
    }
    let mut file = match File::create_new(workdir.root_path().join(POLICY_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(is_there(&shown).into()),
        Err(error) => {
            let message = format!("cannot write `{shown}`; make its directory writable, or give `--print`");
            return Err(error).with_context(|| UsageError(message));
        }
    };
    if let Err(error) = file.write_all(text.as_bytes()) {
        // A part of it would be in the way of the next attempt.
        let _ = fs::remove_file(workdir.root_path().join(POLICY_FILE));
        return Err(error)
            .with_context(|| format!("cannot write `{shown}`; make room for it, or give `--print`"));
    }
    let mut written = InitReport { written: true, ..InitReport::nothing(shown, text).of(&project) };
    if options.json {
        written.trusted = trust(&workdir, &written.text);
        return written.print(true);
    }
    outln!("{GOOD}wrote{GOOD:#} {NAME}{}{NAME:#} for {}", written.file, project.describe());
    if trust(&workdir, &written.text) {
        outln!("It is trusted as it is now; after a change, run `haft policy trust`.");
    }
    outln!("\nLook at it, then try:");
    for step in &written.next {
        outln!("  {step}");
    }
    Ok(Exit::Done)
}

/// Refuses to open the home directory to what changes files, which is easily done where no project was gone to.
fn check_is_project(root: &Path) -> Result<()> {
    match UserDirectories::from_environment().home() {
        Some(home) if home.starts_with(root) => {
            let what = if home == root { "is" } else { "holds" };
            let message = format!(
                "this directory {what} your home directory, and tools could change all of it; go to a project, or give \
                 `--workdir .` if this one is meant; `haft init --user` writes rules that hold everywhere"
            );
            Err(UsageError(message).into())
        }
        _ => Ok(()),
    }
}

/// What `haft init` has written, or would write.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InitReport {
    /// The file.
    file: String,
    /// Whether it was written.
    written: bool,
    /// Whether it is trusted: otherwise it only takes away until `haft policy trust`.
    trusted: bool,
    /// What was found that it is for: each language of the project.
    project: Vec<Part>,
    /// The whole text of the file.
    text: String,
    /// Commands to try next, some with a comment.
    next: Vec<String>,
}

impl InitReport {
    /// Says what would be written.
    fn nothing(file: String, text: String) -> Self {
        let next = vec!["haft config show".to_owned()];
        Self { file, written: false, trusted: false, project: Vec::new(), text, next }
    }

    fn of(self, project: &Project) -> Self {
        Self { next: next_steps(project), project: project.parts.clone(), ..self }
    }

    /// Prints the text, or all of it as JSON.
    fn print(&self, json: bool) -> Result<Exit> {
        if json {
            print_json(self)?;
        } else {
            out!("{}", self.text);
        }
        Ok(Exit::Done)
    }
}

/// Trusts what was just written, and tells whether it is; it holds as far as it takes away where that cannot be remembered.
fn trust(workdir: &Workdir, text: &str) -> bool {
    let trusted = Configuration::read(workdir).and_then(|configuration| {
        let catalog = configuration.catalog()?;
        let tools = own_tools::registry_of_runs(workdir, &catalog)?;
        let (root, user) = (workdir.root_path(), &configuration.user.directories);
        let file = WorkspaceFile::look(workdir, root, user, &configuration.texts)?;
        let file = file.context("the file is gone")?;
        anyhow::ensure!(
            file.text().as_deref() == Some(text),
            "somebody has changed the file since it was written"
        );
        PolicySetup::new(&configuration, workdir, Some(root)).as_trusted(&file, &tools, &catalog)?;
        TrustStore::of(user)?.trust(&file)
    });
    let Err(error) = trusted else { return true };
    crate::exit::note(
        error
            .context("the policy file is not trusted yet, so that it only forbids; run `haft policy trust`")
            .as_ref(),
    );
    false
}

fn next_steps(project: &Project) -> Vec<String> {
    let mut steps = vec!["haft config show".to_owned()];
    let command = project.commands().next().unwrap_or("git status");
    steps.push(format!("haft policy explain '{command}'"));
    if project.has_mcp_json {
        steps.push("haft mcp trust      # the servers of .mcp.json, once you have looked at them".to_owned());
    }
    steps.push("haft serve --print-config claude-code".to_owned());
    steps
}

fn for_user(options: &InitOptions) -> Result<Exit> {
    let text = with_schema(FOR_USER, options.schema.as_deref());
    let directories = UserDirectories::from_environment();
    if options.print {
        let written = directories.config().map_or("~/.config/haft", |(_, written)| written);
        return InitReport::nothing(format!("{written}/{POLICY_FILE}"), text).print(options.json);
    }
    let (folder, written) = directories.config().with_context(|| {
        UsageError("there is no directory for your configuration; set HOME or XDG_CONFIG_HOME".to_owned())
    })?;
    let shown = format!("{written}/{POLICY_FILE}");
    if folder.join(POLICY_FILE).symlink_metadata().is_ok() {
        return Err(is_there(&shown).into());
    }
    let cannot =
        || UsageError(format!("cannot write `{shown}`; make its directory writable, or give `--print`"));
    PrivateFiles::new(folder).write(POLICY_FILE, &text).with_context(cannot)?;
    if options.json {
        return InitReport { written: true, trusted: true, ..InitReport::nothing(shown, text) }.print(true);
    }
    outln!("{GOOD}wrote{GOOD:#} {NAME}{shown}{NAME:#}");
    outln!("It holds in all directories. `haft config show` shows what is set, and where.");
    Ok(Exit::Done)
}

fn is_there(shown: &str) -> UsageError {
    UsageError(format!(
        "there is a `{shown}` already, which is kept; look at it with `haft config show`, or compare it with `haft init --print`"
    ))
}

/// Gives what is written for a project of each kind, and of all at once.
#[cfg(test)]
pub(crate) fn for_each_kind_of_project(mut each: impl FnMut(&str, &str)) {
    let kinds = [
        ("Rust", "Cargo.toml", "[package]\n"),
        ("JavaScript", "package.json", r#"{"scripts":{"test":"x","lint":"x"}}"#),
        ("Python", "pyproject.toml", "[tool.mypy]\n"),
        ("Go", "go.mod", "module m\n"),
        ("Make", "Makefile", "test:\n\ttrue\n"),
    ];
    let all = tempfile::tempdir().unwrap();
    let mut written =
        |name: &str, directory: &Path| each(name, &written::for_project(&Project::of(directory)));
    written("nothing", all.path());
    fs::create_dir(all.path().join(".git")).unwrap();
    for (name, file, text) in kinds {
        let one = tempfile::tempdir().unwrap();
        fs::write(one.path().join(file), text).unwrap();
        fs::write(all.path().join(file), text).unwrap();
        written(name, one.path());
    }
    written("all", all.path());
}
