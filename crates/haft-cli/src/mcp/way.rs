use crate::own_tools;
use haft::mcp::{ServerConfig, Transport};
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// The programs by which others are installed and run, and what they come with.
const RUNNERS: [(&[&str], &str); 5] = [
    (&["node", "npx", "npm"], "install Node.js, which has it"),
    (&["uvx", "uv"], "install uv, which has it"),
    (&["python", "python3", "pipx"], "install Python, which has it"),
    (&["docker", "podman"], "install it, and see that its service runs"),
    (&["deno", "bun", "bunx", "pnpm"], "install it"),
];

/// Says how a server is reached, and whether what that needs is there.
pub(crate) enum Way {
    /// A program: where it was found, and where it is started.
    Program { name: String, found: Option<PathBuf>, directory: Option<PathBuf> },
    /// A service of this machine or of another.
    Service,
    /// A socket of this machine.
    Socket(PathBuf),
}

/// Is what a server needs and is not there, for people.
pub(crate) struct Lack {
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) next: String,
}

impl Way {
    /// Looks for what a server is reached by, and starts nothing.
    pub(super) fn of(config: &ServerConfig) -> Self {
        let program = match &config.transport {
            Transport::Stdio(program) => program,
            Transport::Unix(path) => return Self::Socket(path.clone()),
            _ => return Self::Service,
        };
        let name = program.command.to_string_lossy().into_owned();
        let environment = program
            .variables
            .iter()
            .try_fold(own_tools::environment(), |environment, (name, value)| environment.with(name, value));
        let path = PathBuf::from(&program.command);
        let found = if name.contains('/') {
            // A relative path begins where the program is started.
            let path = program.directory.as_ref().map_or(path.clone(), |directory| directory.join(&path));
            is_program(&path).then_some(path)
        } else {
            environment.ok().and_then(|environment| environment.find_program(&name))
        };
        Self::Program { name, found, directory: program.directory.clone() }
    }

    /// Says what the server needs that is not there.
    pub(crate) fn lack(&self) -> Option<Lack> {
        let lack = |text: String, next: &str| Some(Lack { text, next: next.to_owned() });
        match self {
            Self::Program { directory: Some(directory), .. } if !directory.is_dir() => {
                let text = format!("it starts in `{}`, which is not a directory", directory.display());
                lack(text, "correct `cwd`, or make the directory")
            }
            Self::Program { name, found: None, .. } if name.contains('/') => {
                lack(format!("there is no program `{name}`"), "correct `command`, or put the program there")
            }
            Self::Program { name, found: None, .. } => {
                let known = RUNNERS.iter().find(|(names, _)| names.contains(&name.as_str()));
                let next = known.map_or("install it, or write its path", |(_, next)| next);
                let next = format!("{next}; PATH must name its directory by an absolute path");
                lack(format!("there is no program `{name}` in PATH"), &next)
            }
            Self::Socket(path) if !path.exists() => {
                let text = format!("there is no socket `{}`", path.display());
                lack(text, "start the program that listens there")
            }
            Self::Program { .. } | Self::Socket(_) | Self::Service => None,
        }
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}
