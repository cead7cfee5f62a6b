//! `haft import`: carries what other programs are told over into `haft.toml`, and lists what it could not.
//!
//! What is carried over allows no more than it did there. Nothing that is set is written over, and no secret is copied.

mod carried;
mod claude;
mod claude_rules;
mod codex;
mod merge;
mod print;
mod servers;
mod sources;

pub(crate) use print::Imported;

use crate::config::{Checked, Configuration, Settings};
use crate::exit::{Exit, UsageError};
use crate::opened_workdir;
use crate::printed::print_json;
use crate::small_file::text_of;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::{Context as _, Result, bail};
use carried::Carried;
use clap::{Args, ValueEnum};
use haft::Workdir;
use haft::tools_core::PrivateFiles;
use sources::{Program, Source};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// Whose files are read; those of all by default
    #[arg(value_name = "PROGRAM")]
    from: Option<Whose>,
    /// Read your own files of these programs, and write your own `haft.toml`
    #[arg(long)]
    user: bool,
    /// The directory of the project; the current one by default
    #[arg(long, value_name = "DIR")]
    workdir: Option<PathBuf>,
    /// Write the file; without it, what would be changed is shown
    #[arg(long)]
    write: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Names whose files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// The `.mcp.json` of the project, which several programs read
    McpJson,
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
}

/// Is the file that is written.
struct Target {
    path: PathBuf,
    /// How people know it.
    shown: String,
    before: String,
}

/// Shows what of other programs' files can be carried over, or does it.
pub(crate) fn import(options: &ImportOptions) -> Result<Exit> {
    let workdir = opened_workdir::workdir(options.workdir.as_deref())?;
    let target = if options.user { Target::of_user()? } else { Target::of_workspace(&workdir, options)? };
    let wanted = |program: Program| match options.from {
        None => true,
        Some(Whose::McpJson) => program == Program::McpJson,
        Some(Whose::ClaudeCode) => program == Program::ClaudeCode,
        Some(Whose::Codex) => program == Program::Codex,
    };
    let user = UserDirectories::from_environment();
    let language = user.default_rules(&workdir).language();
    let folder = target.path.parent().map(Path::to_owned).unwrap_or_default();
    let mut carried = Carried::new(language, options.user, folder);
    let mut found = Vec::new();
    for source in Source::all(&workdir, options.user) {
        if !wanted(source.program) {
            continue;
        }
        if let Some(text) = source.read()? {
            found.push(source.shown.clone());
            carried.reading(&source.shown);
            match source.program {
                Program::McpJson => claude::mcp_json(&text, &mut carried),
                Program::ClaudeCode => claude::settings(&source, &text, &mut carried),
                Program::Codex => codex::config(&text, &mut carried),
            }
        }
    }
    let after = merge::merged(&target.before, &mut carried)
        .with_context(|| UsageError(format!("cannot change `{}`; see `haft config check`", target.shown)))?;
    let is_changed = after != target.before;
    let report = print::Report {
        target: &target.shown,
        found: &found,
        before: &target.before,
        after: &after,
        carried: &carried,
    };
    if options.json {
        print_json(&report.told(options.write && is_changed))?;
    } else {
        report.print();
    }
    if options.write && is_changed {
        target.write(&after, &workdir, options.user)?;
    }
    if !options.json {
        report.print_end(options.write, options.user);
    }
    Ok(Exit::Done)
}

impl Target {
    fn of_user() -> Result<Self> {
        let directories = UserDirectories::from_environment();
        let (folder, written) = directories.config().with_context(|| {
            UsageError("there is no directory for your configuration; set HOME or XDG_CONFIG_HOME".to_owned())
        })?;
        Self::at(folder.join(POLICY_FILE), format!("{written}/{POLICY_FILE}"))
    }

    fn of_workspace(workdir: &Workdir, options: &ImportOptions) -> Result<Self> {
        let shown = options.workdir.as_deref().unwrap_or(Path::new("")).join(POLICY_FILE);
        Self::at(workdir.root_path().join(POLICY_FILE), shown.display().to_string())
    }

    fn at(path: PathBuf, shown: String) -> Result<Self> {
        let before = text_of(&path)?.unwrap_or_default();
        Ok(Self { path, shown, before })
    }

    /// Writes the file; one with which anything is wrong that was well before is put back as it was.
    fn write(&self, after: &str, workdir: &Workdir, is_users: bool) -> Result<()> {
        // What has to be set or made yet, such as a variable, is no fault of what is written.
        let faults = || -> Result<Vec<String>> {
            let configuration = Configuration::read(workdir)?;
            let tables = Settings::of(&configuration).err().map(|error| format!("{error:#}"));
            let checked = Checked::by(configuration, workdir)?;
            let policy = checked.policy_problems().iter().map(|problem| problem.message().to_owned());
            Ok(policy.chain(tables).collect())
        };
        let was_well = faults().is_ok_and(|faults| faults.is_empty());
        if text_of(&self.path)?.unwrap_or_default() != self.before {
            bail!(UsageError(format!("`{}` has changed meanwhile; try again", self.shown)));
        }
        let existed = self.path.symlink_metadata().is_ok();
        self.put(after, is_users)?;
        let found = faults()?;
        if was_well && !found.is_empty() {
            if existed {
                self.put(&self.before, is_users)?;
            } else {
                fs::remove_file(&self.path).context("cannot remove what was written")?;
            }
            let found: Vec<String> = found.into_iter().take(3).collect();
            bail!(UsageError(format!(
                "`{}` would not be right with that, and was left as it was: {}",
                self.shown,
                found.join("; ")
            )));
        }
        Ok(())
    }

    fn put(&self, text: &str, is_users: bool) -> Result<()> {
        // Where it is a link, what that leads to is written.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let cannot = || UsageError(format!("cannot write `{}`; make its directory writable", self.shown));
        let (folder, name) = path.parent().zip(path.file_name()).with_context(cannot)?;
        if is_users {
            let name = name.to_str().with_context(cannot)?;
            return PrivateFiles::new(folder).write(name, text).with_context(cannot);
        }
        let mut file = tempfile::Builder::new().prefix(".haft-").tempfile_in(folder).with_context(cannot)?;
        file.write_all(text.as_bytes()).with_context(cannot)?;
        let mode = fs::metadata(&path).map_or_else(|_| readable(), |metadata| metadata.permissions());
        fs::set_permissions(file.path(), mode).with_context(cannot)?;
        file.persist(&path).map_err(|error| error.error).with_context(cannot)?;
        Ok(())
    }
}

/// What a new file of a project may be read by.
fn readable() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;

    fs::Permissions::from_mode(0o644)
}
