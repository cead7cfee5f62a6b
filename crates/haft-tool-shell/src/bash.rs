use std::sync::Arc;
use std::time::Duration;

use haft_core::{Origin, Schema, ToolError, ToolHints, ToolName, ToolSpec};
use haft_process::Environment;
#[cfg(not(feature = "analysis"))]
use haft_tools_core::{Access, Resource};
use haft_tools_core::{Accesses, CallScope, Prepared, Scheme, Tool, input_schema, parse_input};
use haft_workdir::Workdir;
#[cfg(not(feature = "analysis"))]
use haft_workdir::WorkdirPath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[cfg(feature = "analysis")]
use crate::analysis::accesses;
use crate::directory;
#[cfg(feature = "sandbox")]
use crate::sandbox::ShellSandbox;
use crate::sandbox::requested;
use crate::script::{REPORT_TIME, Script, Surroundings};
use crate::script_outputs::ScriptOutputs;

/// Names commands as resources: `exec:git status`.
pub const EXEC: Scheme = Scheme::new("exec");

/// The longest time a script can be given, in seconds.
pub(crate) const MOST_SECONDS: u32 = 600;

/// The longest script, in bytes: one argument of a process on Linux with its final NUL byte (`MAX_ARG_STRLEN`,
/// execve(2)).
const MOST_COMMAND_BYTES: usize = 128 * 1024 - 1;

const DESCRIPTION: &str = "Runs a bash script and returns what it prints, stdout and stderr together, followed by its \
exit code.

Each call is a new shell in the working directory: `cd`, variables and functions are forgotten afterwards, files stay. \
Nothing can be typed in: stdin is empty, there is no terminal, and prompts, pagers and editors are switched off, so pass \
options such as `-y` or `-m`. Long output is cut to its beginning and its end; send it to a file and look at parts of it \
where the middle matters. What is still running in the background when the script ends is ended too, so start a server \
and use it in one script.";

/// Runs bash scripts in a working directory: the tool `bash`.
///
/// A script runs with a [`Workdir`]'s directory as its current one, which does not confine it: it can do what the
/// host's user can. With the feature `analysis` each call declares what the commands in its script do, as far as that can be
/// told beforehand; where it cannot, or without the feature, it declares an opaque access besides, and a policy that does
/// not speak of opaque calls has it asked.
///
/// ```
/// use haft_tool_shell::{Bash, Environment};
/// use haft_tools_core::Tool as _;
///
/// let tree = haft_testkit::Tree::new();
/// let workdir = tree.workdir();
/// let bash = Bash::new(workdir, Environment::minimal());
/// assert_eq!(bash.spec().name().as_str(), "bash");
/// ```
#[derive(Debug)]
pub struct Bash {
    spec: ToolSpec,
    surroundings: Arc<Surroundings>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The script. It may have several lines.
    command: String,
    /// After how many seconds the script is stopped; what it printed until then is returned.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = MOST_SECONDS))]
    timeout: u32,
    /// The directory to run the script in, relative to the working directory.
    #[serde(default = "default_directory")]
    directory: String,
    /// What the script is for, in a few words; shown to the person who is asked whether it may run.
    #[serde(default)]
    description: String,
    /// What the sandbox has to open beyond what the script itself says, such as `write ~/notes.md`, `read /srv/data` or
    /// `connect example.org:443`. The user is asked about it, so give it only after the sandbox has denied something.
    #[serde(default)]
    access: Vec<String>,
}

/// What the model reads of a sandbox, behind the description.
#[cfg(feature = "sandbox")]
const CONFINED: &str = "\n\nA sandbox confines it: what it may read and write is the working directory, and it reaches no network, \
unless the script itself says otherwise or `access` asks for it.";

/// The schema of the input; nothing can be asked of a sandbox that is not there.
fn schema(is_confined: bool) -> Schema {
    let whole = input_schema::<Input>();
    if is_confined {
        return whole;
    }
    let mut value = whole.as_value().clone();
    if let Some(properties) = value.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("access");
    }
    Schema::new(value).unwrap_or(whole)
}

fn default_seconds() -> u32 {
    120
}

fn default_directory() -> String {
    ".".to_owned()
}

impl Bash {
    /// Makes the tool; scripts run in this directory and get these environment variables and no others.
    ///
    /// Other roots of the directory are outside of it for commands, which name what is there by absolute paths.
    pub fn new(workdir: Workdir, environment: Environment) -> Self {
        let hints =
            ToolHints { destructive: true, open_world: true, streaming: true, ..ToolHints::default() };
        let spec = ToolSpec::new(ToolName::project("bash"), DESCRIPTION, schema(false))
            .with_title("Run a shell script")
            .with_hints(hints)
            .with_origin(Origin::Builtin);
        let roots = workdir.host_roots();
        let workdir = workdir.without_other_roots();
        Self {
            spec,
            surroundings: Arc::new(Surroundings {
                workdir,
                roots,
                environment,
                outputs: None,
                sandbox: None,
            }),
        }
    }

    /// Keeps whole what scripts print, so that the model can read what is cut; otherwise that is lost.
    pub fn outputs(mut self, outputs: &ScriptOutputs) -> Self {
        let outputs = Some(outputs.clone());
        self.surroundings = Arc::new(Surroundings { outputs, ..(*self.surroundings).clone() });
        self
    }

    /// Confines scripts; what the model is told of the tool says so.
    #[cfg(feature = "sandbox")]
    pub fn sandbox(self, sandbox: ShellSandbox) -> Self {
        let description = format!("{DESCRIPTION}{CONFINED}");
        let spec = ToolSpec::new(self.spec.name().clone(), description, schema(true));
        let spec =
            spec.with_title("Run a shell script").with_hints(self.spec.hints()).with_origin(Origin::Builtin);
        let surroundings = Surroundings { sandbox: Some(sandbox), ..(*self.surroundings).clone() };
        Self { spec, surroundings: Arc::new(surroundings) }
    }
}

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { command, timeout, directory, description, access } = parse_input(input)?;
        check_command(&command)?;
        if !(1..=MOST_SECONDS).contains(&timeout) {
            return Err(ToolError::invalid_input(format!(
                "`timeout` is {timeout} seconds; give 1 to {MOST_SECONDS}"
            )));
        }
        let directory = directory::resolve(&self.surroundings.workdir, &directory)?;
        let timeout = Duration::from_secs(timeout.into());
        let more = requested(&access, &self.surroundings, &directory)?;
        let (accesses, is_understood) = accesses(&command, &self.surroundings, &directory, &description);
        let accesses: Accesses = accesses.iter().cloned().chain(more).collect();
        let script = Script {
            surroundings: Arc::clone(&self.surroundings),
            command,
            directory,
            timeout,
            accesses: accesses.clone(),
            is_understood,
        };
        // The tool stops the script itself, so that it can tell what was printed until then.
        Ok(Prepared::new(accesses, script).with_timeout(timeout + REPORT_TIME))
    }
}

/// Makes the tools of this crate.
pub fn tools(workdir: &Workdir, environment: &Environment) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Bash::new(workdir.clone(), environment.clone()))]
}

/// Declares that it is not known what a script will do, and says that this is not all.
#[cfg(not(feature = "analysis"))]
fn accesses(script: &str, _: &Surroundings, _: &WorkdirPath, description: &str) -> (Accesses, bool) {
    let mut execute = Access::execute(Resource::exact(EXEC, script)).exclusive();
    if !description.trim().is_empty() {
        execute = execute.with_detail(description);
    }
    (Accesses::from([execute, Access::opaque("a shell script that is not analysed")]), false)
}

fn check_command(command: &str) -> Result<(), ToolError> {
    let refusal = if command.trim().is_empty() {
        "`command` is empty; give the script to run".to_owned()
    } else if let Some(place) = command.find('\0') {
        format!("`command` has a NUL byte after {place} bytes, which no script can have; write it as `\\0`")
    } else if command.len() > MOST_COMMAND_BYTES {
        format!(
            "`command` has {} bytes, and {MOST_COMMAND_BYTES} is the most there can be; put the script into a file and \
             run that",
            command.len()
        )
    } else {
        return Ok(());
    };
    Err(ToolError::invalid_input(refusal))
}
