use crate::small_file::text_of;
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::Workdir;
use std::env;
use std::path::{Path, PathBuf};

/// Says whose file one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    McpJson,
    ClaudeCode,
    Codex,
}

/// Is a file of another program's, which need not be there.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) program: Program,
    path: PathBuf,
    /// How people know it.
    pub(super) shown: String,
    /// The directory whose part of the file is wanted, where it has parts for directories.
    pub(super) project: Option<PathBuf>,
}

impl Source {
    /// Lists the files that may hold something for a project, or for a user.
    pub(super) fn all(workdir: &Workdir, of_user: bool) -> Vec<Self> {
        let root = workdir.root_path();
        let user = UserDirectories::from_environment();
        let home = user.home();
        let in_home =
            |program, path: &str| Some(Self::at(program, home.as_ref()?.join(path), format!("~/{path}")));
        let in_project = |program, path: &str| Some(Self::at(program, root.join(path), path.to_owned()));
        let state = in_home(Program::ClaudeCode, ".claude.json");
        let found = if of_user {
            let codex = env::var_os("CODEX_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
            let codex = match codex {
                Some(folder) => Some(Self::at(
                    Program::Codex,
                    folder.join("config.toml"),
                    "$CODEX_HOME/config.toml".to_owned(),
                )),
                None => in_home(Program::Codex, ".codex/config.toml"),
            };
            vec![state, in_home(Program::ClaudeCode, ".claude/settings.json"), codex]
        } else {
            vec![
                in_project(Program::McpJson, ".mcp.json"),
                in_project(Program::ClaudeCode, ".claude/settings.json"),
                in_project(Program::ClaudeCode, ".claude/settings.local.json"),
                state.map(|state| Self { project: Some(root.to_owned()), ..state }),
                in_project(Program::Codex, ".codex/config.toml"),
            ]
        };
        found.into_iter().flatten().collect()
    }

    fn at(program: Program, path: PathBuf, shown: String) -> Self {
        Self { program, path, shown, project: None }
    }

    /// Reads the file, if there is one.
    pub(super) fn read(&self) -> Result<Option<String>> {
        text_of(&self.path)
    }

    /// Tells whether it is where the program keeps its own state, and not its settings.
    pub(super) fn is_state(&self) -> bool {
        self.path.file_name() == Some(Path::new(".claude.json").as_os_str())
    }
}
