use std::sync::Arc;

use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{Accesses, CallScope, Prepared, Tool, parse_input};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[cfg(feature = "analysis")]
use crate::analysis::program_accesses;
use crate::bash::{MOST_SECONDS, default_directory, default_seconds, given, schema, seconds};
use crate::catalog::Word;
use crate::command_patterns::canonical;
use crate::directory;
use crate::sandbox::requested;
use crate::script::{REPORT_TIME, Script, Surroundings, Waiting, Work};

/// How many bytes a program and its arguments have together; Linux takes about 2 MiB with the environment (execve(2)).
const MOST_BYTES: usize = 1024 * 1024;

const DESCRIPTION: &str = "Runs one program with its arguments, without a shell: nothing in them is expanded, so that they need no \
quotes. It gets no terminal. Returns what it prints, stdout and stderr together, followed by its exit code. For \
pipes, redirections, several commands and variables use `bash`.";

/// Runs programs without a shell: the tool `run_program`, made by [`Bash::program`](crate::Bash::program).
///
/// What a program does is declared like that of a command in a script, and so decided by the same rules: `exec:git diff`.
/// What stands for more in a shell, such as `*` or `$HOME`, is what it is.
///
/// ```
/// use haft_tool_shell::{Bash, Environment};
/// use haft_tools_core::Tool as _;
///
/// let tree = haft_testkit::Tree::new();
/// let program = Bash::new(tree.workdir(), Environment::minimal()).program();
/// assert_eq!(program.spec().name().as_str(), "run_program");
/// ```
#[derive(Debug)]
pub struct RunProgram {
    spec: ToolSpec,
    surroundings: Arc<Surroundings>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The program: its name, or its path if it has a `/`, which is relative to `directory`.
    program: String,
    /// Its arguments, each as it is.
    #[serde(default)]
    args: Vec<String>,
    /// After how many seconds the program is stopped; what it printed until then is returned.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = MOST_SECONDS))]
    timeout: u32,
    /// The directory to run the program in, relative to the working directory.
    #[serde(default = "default_directory")]
    directory: String,
    /// What the program reads from its standard input, which is empty otherwise.
    #[serde(default)]
    input: String,
    /// What it is for, in a few words; shown to the person who is asked whether it may run.
    #[serde(default)]
    description: String,
    /// What the sandbox has to open beyond what is known of the program, such as `write ~/notes.md`, `read /srv/data` or
    /// `connect example.org:443`. The user is asked about it, so give it only after the sandbox has denied something.
    #[serde(default)]
    access: Vec<String>,
}

impl RunProgram {
    pub(crate) fn new(surroundings: Arc<Surroundings>) -> Self {
        let hints =
            ToolHints { destructive: true, open_world: true, streaming: true, ..ToolHints::default() };
        let spec =
            ToolSpec::new(ToolName::project("run_program"), DESCRIPTION, schema::<Arguments>(&surroundings))
                .with_title("Run a program")
                .with_hints(hints)
                .with_origin(Origin::Builtin);
        Self { spec, surroundings }
    }
}

impl Tool for RunProgram {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Arguments { program, args, timeout, directory, mut input, description, access } =
            parse_input(input)?;
        check(&program, &args)?;
        let directory = directory::resolve(&self.surroundings.workdir, &directory)?;
        let (timeout, reads) = (seconds(timeout)?, given(&mut input)?);
        let words: Vec<Word> =
            std::iter::once(&program).chain(&args).map(|word| Word::literal(word.as_str())).collect();
        let command = canonical(&words);
        let (accesses, is_understood): (Accesses, bool) =
            program_accesses(words, &command, &self.surroundings, &directory, &description, reads.text());
        let more = requested(&access, &self.surroundings, &directory)?;
        let accesses: Accesses = accesses.iter().cloned().chain(more).collect();
        let script = Script {
            surroundings: Arc::clone(&self.surroundings),
            work: Work::Program { program, arguments: args },
            command,
            directory,
            timeout,
            waiting: Waiting::Whole,
            input: reads,
            steps: None,
            accesses: accesses.clone(),
            is_understood,
        };
        Ok(Prepared::new(accesses, script).with_timeout(timeout + REPORT_TIME))
    }
}

fn check(program: &str, arguments: &[String]) -> Result<(), ToolError> {
    let bytes: usize = arguments.iter().map(String::len).sum::<usize>() + program.len();
    let refusal = if program.is_empty() {
        "`program` is empty; give the program to run".to_owned()
    } else if program.contains('\0') || arguments.iter().any(|argument| argument.contains('\0')) {
        "there is a NUL byte in `program` or `args`, which no program can be given; leave it out".to_owned()
    } else if bytes > MOST_BYTES {
        format!("`args` have {bytes} bytes, and {MOST_BYTES} is the most there can be; put them into a file")
    } else {
        return Ok(());
    };
    Err(ToolError::invalid_input(refusal))
}

/// Declares that it is not known what a program will do.
#[cfg(not(feature = "analysis"))]
fn program_accesses(
    _: Vec<Word>,
    command: &str,
    _: &Surroundings,
    _: &haft_workdir::WorkdirPath,
    description: &str,
    _: Option<&str>,
) -> (Accesses, bool) {
    let mut execute =
        haft_tools_core::Access::execute(haft_tools_core::Resource::exact(crate::EXEC, command)).exclusive();
    if !description.trim().is_empty() {
        execute = execute.with_detail(description);
    }
    (Accesses::from([execute, haft_tools_core::Access::opaque("a program that is not analysed")]), false)
}
