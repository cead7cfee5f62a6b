mod arguments;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolSpec};
use haft_process::Environment;
use haft_tools_core::{Access, Accesses, CallScope, Prepared, Resource, Scheme, Tool, parse_input};
use haft_workdir::{Workdir, WorkdirPath};
use serde_json::Value;

use self::arguments::Arguments;
pub(crate) use self::arguments::{default_directory, default_seconds, given, schema};

#[cfg(feature = "analysis")]
use crate::analysis::{ReadScript, accesses};
#[cfg(feature = "analysis")]
use crate::catalog::CommandCatalog;
use crate::directory;
use crate::jobs::Jobs;
#[cfg(not(feature = "analysis"))]
use crate::last_directory::End;
use crate::program::RunProgram;
#[cfg(feature = "sandbox")]
use crate::sandbox::ShellSandbox;
use crate::sandbox::requested;
use crate::script::{REPORT_TIME, Script, Surroundings, Waiting, Work};
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

Each call is a new shell: variables and functions are forgotten afterwards, files stay. Nothing can be typed in: stdin is \
empty or what `input` says, there is no terminal, and prompts, pagers and editors are switched off, so pass options such as \
`-y` or `-m`. Long output is cut to its beginning and its end; send it to a file and look at parts of it \
where the middle matters.";

/// What becomes of what a script leaves in the background, where there are no jobs.
const IS_ENDED: &str = "What is still running in the background when the script ends is ended too, so start a server and use \
it in one script.";

/// And where there are.
const GOES_ON: &str = "With `background` it becomes a job, which runs on beside your other calls until it ends, `job_signal` ends \
it or you are done; so does what is still running when the script ends.";

/// The scheme of hosts, as the analysis declares them.
const NET: Scheme = Scheme::new("net");

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

/// What the model reads of a sandbox, behind the description.
const CONFINED: &str = "\n\nA sandbox confines it: what it may read and write is the working directory, and it reaches no network, \
unless the script itself says otherwise or `access` asks for it.";

impl Bash {
    /// Makes the tool; scripts run in this directory and get these environment variables and no others.
    ///
    /// Other roots of the directory are outside of it for commands, which name what is there by absolute paths.
    pub fn new(workdir: Workdir, environment: Environment) -> Self {
        Self::of(Surroundings::new(workdir, environment))
    }

    fn of(surroundings: Surroundings) -> Self {
        let hints =
            ToolHints { destructive: true, open_world: true, streaming: true, ..ToolHints::default() };
        let ends = if surroundings.jobs.is_some() { GOES_ON } else { IS_ENDED };
        let confined = if surroundings.sandbox.is_some() { CONFINED } else { "" };
        let description = format!("{DESCRIPTION} {ends}{confined}");
        let spec = ToolSpec::new(ToolName::project("bash"), description, schema::<Arguments>(&surroundings))
            .with_title("Run a shell script")
            .with_hints(hints)
            .with_origin(Origin::Builtin);
        Self { spec, surroundings: Arc::new(surroundings) }
    }

    /// Gives scripts these environment variables and no others, instead of those the tool was made with.
    pub fn environment(self, environment: Environment) -> Self {
        Self::of(Surroundings { environment, ..(*self.surroundings).clone() })
    }

    /// Reads scripts by another catalog, such as one that knows more commands; rules about commands should go by the same.
    ///
    /// What an entry says that a command only does is all that is asked about, so it has to be right.
    #[cfg(feature = "analysis")]
    pub fn catalog(self, catalog: CommandCatalog) -> Self {
        Self::of(Surroundings { catalog, ..(*self.surroundings).clone() })
    }

    /// Keeps whole what scripts print, so that the model can read what is cut; otherwise that is lost.
    pub fn outputs(self, outputs: &ScriptOutputs) -> Self {
        let outputs = Some(outputs.clone());
        Self::of(Surroundings { outputs, ..(*self.surroundings).clone() })
    }

    /// Lets scripts go on beside calls: when the model wants it, when one takes longer than it is waited for, and what one
    /// leaves in the background; otherwise that is ended. What they print is kept where the jobs say.
    pub fn jobs(self, jobs: &Jobs) -> Self {
        let (outputs, jobs) = (Some(jobs.outputs().clone()), Some(jobs.clone()));
        Self::of(Surroundings { outputs, jobs, ..(*self.surroundings).clone() })
    }

    /// Confines scripts; what the model is told of the tool says so.
    #[cfg(feature = "sandbox")]
    pub fn sandbox(self, sandbox: ShellSandbox) -> Self {
        Self::of(Surroundings { sandbox: Some(sandbox), ..(*self.surroundings).clone() })
    }

    /// Makes the tool that runs programs without a shell, in the same surroundings.
    pub fn program(&self) -> RunProgram {
        RunProgram::new(Arc::clone(&self.surroundings))
    }
}

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let mut input: Arguments = parse_input(input)?;
        check_command(&input.command)?;
        let (waiting, reads) = (input.waiting()?, input.reads()?);
        let Arguments { command, timeout, directory, mut description, access, port, .. } = input;
        let Surroundings { workdir, last_directories, .. } = &*self.surroundings;
        let directory = match directory {
            Some(directory) => directory::resolve(workdir, &directory)?,
            None => match last_directories.start(scope, workdir)? {
                Some(directory) => {
                    // The call does not say so, and a decision about it is one about where it runs, too.
                    let blank = if description.is_empty() { "" } else { " " };
                    let _ = write!(description, "{blank}(in {})", directory.as_str().escape_debug());
                    directory
                }
                None => WorkdirPath::root(),
            },
        };
        let timeout = seconds(timeout)?;
        let more = requested(&access, &self.surroundings, &directory)?;
        let ReadScript { accesses, is_understood, end } =
            accesses(&command, &self.surroundings, &directory, &description, reads.text());
        let tried = port.map(|port| Access::connect(Resource::exact(NET, format!("127.0.0.1:{port}"))));
        let accesses: Accesses = accesses.iter().cloned().chain(more).chain(tried).collect();
        let most = match &waiting {
            Waiting::Not { readiness: Some(readiness), .. } => readiness.most,
            _ => timeout,
        };
        let script = Script {
            surroundings: Arc::clone(&self.surroundings),
            work: Work::Script(command.clone()),
            command,
            directory,
            timeout,
            waiting,
            input: reads,
            steps: Some(last_directories.steps(scope, workdir, end)),
            accesses: accesses.clone(),
            is_understood,
        };
        // The tool stops the script itself, so that it can tell what was printed until then.
        Ok(Prepared::new(accesses, script).with_timeout(most + REPORT_TIME))
    }
}

/// Reads how long something may take.
pub(crate) fn seconds(timeout: u32) -> Result<Duration, ToolError> {
    if (1..=MOST_SECONDS).contains(&timeout) {
        return Ok(Duration::from_secs(timeout.into()));
    }
    Err(ToolError::invalid_input(format!("`timeout` is {timeout} seconds; give 1 to {MOST_SECONDS}")))
}

/// Makes the tools of this crate.
///
/// ```
/// use haft_tool_shell::Environment;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("a.txt", "one\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of(haft_tool_shell::tools(&workdir, &Environment::minimal()))?;
/// let reply = call(&registry, "bash", json!({ "command": "cat a.txt" })).await;
/// assert_eq!(reply.output.to_text(), "one\n[exit code 0]");
/// # Ok(())
/// # }
/// ```
pub fn tools(workdir: &Workdir, environment: &Environment) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Bash::new(workdir.clone(), environment.clone()))]
}

#[cfg(not(feature = "analysis"))]
struct ReadScript {
    accesses: Accesses,
    is_understood: bool,
    end: End,
}

/// Declares that it is not known what a script will do, and says that this is not all.
#[cfg(not(feature = "analysis"))]
fn accesses(
    script: &str,
    _: &Surroundings,
    _: &WorkdirPath,
    description: &str,
    _: Option<&str>,
) -> ReadScript {
    let mut execute = Access::execute(Resource::exact(EXEC, script)).exclusive();
    if !description.trim().is_empty() {
        execute = execute.with_detail(description);
    }
    let accesses = Accesses::from([execute, Access::opaque("a shell script that is not analysed")]);
    ReadScript { accesses, is_understood: false, end: End::Same }
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
