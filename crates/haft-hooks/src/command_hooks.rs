use std::ffi::OsString;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use haft_core::{Content, ErrorKind, ReplyStatus, Visible};
use haft_process::{Environment, EnvironmentError, Program};
use haft_tools_core::{Before, Layer, LayerAnswer, LayerCall, LayerTime};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::command_hook::{CommandHook, HookPoint, Obligation};
use crate::exchange::{Ending, Exchange, MOST_STDOUT, exchange};
use crate::model_text::{denied, endless, refused, unchecked, withheld};
use crate::report::{HookProblem, HookReport};
use crate::request;
use crate::response::{self, AfterResponse, BeforeResponse};

/// The longest a hook may take: what Claude Code gives its hooks when nothing else is said.
const MOST_TIMEOUT: Duration = Duration::from_mins(10);

/// How many programs run at once when nothing else is said: enough for a batch of usual size, and few beside what a
/// machine runs.
const DEFAULT_WIDTH: usize = 8;

/// How often hooks may replace one call's input, so that those that disagree come to an end; as for layers.
const MOST_REPLACEMENTS: u32 = 8;

/// The exit code by which a hook blocks.
const BLOCK: i32 = 2;

/// Asks the programs of a configuration about calls: a layer.
///
/// Each call that a hook is for costs one process; calls that no hook is for cost a look at the selectors. Cheap to
/// clone.
///
/// ```
/// use haft_core::{Schema, ToolCall, ToolError, ToolSpec};
/// use haft_hooks::{CommandHook, CommandHooks};
/// use haft_tools_core::{Accesses, Before, CallScope, Layer as _, LayerCall};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = r#"
///     if grep -q "rm -rf"; then echo "delete single files instead" >&2; exit 2; fi
///     echo '{ "context": "The tree is on a read-only disk." }'
/// "#;
/// let hook = CommandHook::before("bash".parse()?, ["/bin/sh", "-c", script]);
/// let hooks = CommandHooks::new([hook], std::env::temp_dir(), std::env::vars_os())?;
///
/// let spec = ToolSpec::new("bash".parse()?, "Runs a script.", Schema::empty());
/// let (scope, accesses) = (CallScope::new("run-1".parse()?), Accesses::none());
///
/// let call = ToolCall::new("c1".parse()?, "bash", json!({ "command": "rm -rf target" }));
/// let said = hooks.before(&LayerCall::new(&call, &spec, &scope, &accesses)).await;
/// let text = "the call was blocked and did not run: delete single files instead";
/// assert_eq!(said, Before::skip(ToolError::denied(text)));
///
/// let call = ToolCall::new("c2".parse()?, "bash", json!({ "command": "ls" }));
/// let said = hooks.before(&LayerCall::new(&call, &spec, &scope, &accesses)).await;
/// assert_eq!(said, Before::proceed().with_context("The tree is on a read-only disk."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CommandHooks {
    hooks: Arc<[Hook]>,
    directory: Arc<PathBuf>,
    reporter: Option<Arc<dyn Fn(HookReport) + Send + Sync>>,
    width: Arc<Semaphore>,
}

#[derive(Debug)]
struct Hook {
    config: CommandHook,
    environment: Environment,
}

/// Says why hooks cannot be used.
///
/// ```
/// use haft_hooks::{CommandHook, CommandHooks, HookError};
///
/// let hook: CommandHook = serde_json::from_str(r#"{ "when": "before", "command": [] }"#)?;
/// let error = CommandHooks::new([hook], "/srv/project", std::env::vars_os()).unwrap_err();
/// assert_eq!(error, HookError::NoProgram { number: 1 });
/// assert_eq!(error.to_string(), "cannot use hook 1: its command names no program");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The command of a hook names no program.
    #[error("cannot use hook {number}: its command names no program")]
    NoProgram {
        /// Which hook, 1-based.
        number: usize,
    },
    /// An argument of a hook holds a NUL byte, which no process can be given.
    #[error("cannot use hook {number}: its command has a NUL byte")]
    Nul {
        /// Which hook, 1-based.
        number: usize,
    },
    /// The timeout of a hook is zero or longer than 600 s.
    #[error(
        "cannot use hook {number}: its timeout is {} s, and has to be more than 0 and at most 600 s",
        timeout.as_secs_f64()
    )]
    Timeout {
        /// Which hook, 1-based.
        number: usize,
        /// The timeout.
        timeout: Duration,
    },
    /// A hook lists a variable that no process can have.
    #[error("cannot use hook {number}")]
    Variable {
        /// Which hook, 1-based.
        number: usize,
        /// What is wrong with it.
        source: EnvironmentError,
    },
    /// The directory is not an absolute path.
    #[error("cannot run hooks in `{}`; give an absolute path", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
    },
}

/// What a hook said about a call.
enum Word<T> {
    /// It exited with 0 and printed this.
    Proceed(T),
    /// It exited with 2 and wrote this to stderr.
    Block(String),
    /// It gave no answer, and it had to.
    Missing,
}

impl CommandHooks {
    /// Makes a layer of these hooks, which are asked in this order.
    ///
    /// They run in `directory`. `variables` are the host's, usually `std::env::vars_os()`: every hook gets those of them
    /// that [`Environment::from_vars`] takes, which no secret is among, and those it lists.
    ///
    /// # Errors
    ///
    /// When a hook could never run as it is configured. Whether its program is there is seen when it is asked.
    pub fn new<N, V>(
        hooks: impl IntoIterator<Item = CommandHook>,
        directory: impl Into<PathBuf>,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, HookError>
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let directory = directory.into();
        if !directory.is_absolute() {
            return Err(HookError::Directory { directory });
        }
        let variables: Vec<(OsString, OsString)> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let common = Environment::from_vars(variables.iter().cloned());
        let hooks = (1..)
            .zip(hooks)
            .map(|(number, config)| {
                check(number, &config)?;
                let environment = listed(&config, &variables, common.clone())
                    .map_err(|source| HookError::Variable { number, source })?;
                Ok(Hook { config, environment })
            })
            .collect::<Result<_, HookError>>()?;
        let width = Arc::new(Semaphore::new(DEFAULT_WIDTH));
        Ok(Self { hooks, directory: Arc::new(directory), reporter: None, width })
    }

    /// Sets how many of the programs run at once, over all calls: 8 by default, 1 at least.
    ///
    /// The others wait, first come first served, which does not count against their timeouts. Clones made from now on
    /// share the bound.
    pub fn width(mut self, programs: usize) -> Self {
        self.width = Arc::new(Semaphore::new(programs.clamp(1, Semaphore::MAX_PERMITS)));
        self
    }

    /// Tells somebody of each hook that failed, beside the warning that `tracing` gets.
    ///
    /// It is called while the call waits and must not block. A panic in it is passed over.
    pub fn reporting_to(mut self, reporter: impl Fn(HookReport) + Send + Sync + 'static) -> Self {
        self.reporter = Some(Arc::new(reporter));
        self
    }

    /// The hooks that are asked about a call of this tool.
    fn concerned(&self, when: HookPoint, call: &LayerCall<'_>) -> impl Iterator<Item = &Hook> {
        let spec = call.spec;
        self.hooks.iter().filter(move |hook| hook.config.when == when && hook.config.tools.concerns(spec))
    }

    async fn ask<T: DeserializeOwned + Default>(
        &self,
        hook: &Hook,
        call: &LayerCall<'_>,
        request: Vec<u8>,
    ) -> Word<T> {
        let problem = match self.run(hook, &request).await {
            Err(problem) => (problem, String::new()),
            Ok(mut said) => match word(hook, &mut said) {
                Ok(word) => return word,
                Err(problem) => (problem, said.stderr.cut_to_text()),
            },
        };
        self.report(hook, call, problem);
        match hook.config.obligation {
            Obligation::Required => Word::Missing,
            Obligation::Advisory => Word::Proceed(T::default()),
        }
    }

    async fn run(&self, hook: &Hook, request: &[u8]) -> Result<Exchange, HookProblem> {
        let (name, arguments) =
            hook.config.command.split_first().expect("a hook without a program was refused");
        let found = if name.contains('/') {
            Some(self.directory.join(name))
        } else {
            hook.environment.find_program(name)
        };
        let program = found.clone().unwrap_or_else(|| name.into());
        let started = match found {
            None => Err(io::Error::new(io::ErrorKind::NotFound, "it is in no directory of `PATH`")),
            Some(path) => {
                let program = Program::new(path).arguments(arguments).directory(&*self.directory);
                let _room = self.width.acquire().await.expect("the semaphore is never closed");
                exchange(program, &hook.environment, request, hook.config.timeout).await
            }
        };
        started.map_err(|source| HookProblem::Start {
            program,
            directory: PathBuf::clone(&self.directory),
            source,
        })
    }

    fn report(&self, hook: &Hook, call: &LayerCall<'_>, (problem, stderr): (HookProblem, String)) {
        let report = HookReport {
            hook: hook.config.clone(),
            call: call.call.id.clone(),
            tool: call.spec.name().clone(),
            problem,
            stderr,
        };
        tracing::warn!(stderr = %Visible::new(&report.stderr), "{report}");
        if let Some(reporter) = &self.reporter {
            // It is only used again through a shared reference, as it would be by another task.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| reporter(report))) {
                // What it carries may panic again when it is dropped, and what that carries is not dropped.
                let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
                dropped.unwrap_or_else(std::mem::forget);
            }
        }
    }
}

/// Reads what a hook said; an error means that it said nothing that counts.
fn word<T: DeserializeOwned + Default>(hook: &Hook, said: &mut Exchange) -> Result<Word<T>, HookProblem> {
    match said.ending {
        Ending::Exited(0) if said.stdout.omitted_bytes() > 0 => {
            Err(HookProblem::TooLong { most_bytes: MOST_STDOUT })
        }
        Ending::Exited(0) => response::parse(said.stdout.as_bytes())
            .map(Word::Proceed)
            .map_err(|source| HookProblem::NotAnAnswer { source }),
        Ending::Exited(BLOCK) => Ok(Word::Block(said.stderr.cut_to_text())),
        Ending::Exited(code) => Err(HookProblem::Exited { code }),
        Ending::Killed(signal) => Err(HookProblem::Killed { signal }),
        Ending::TimedOut => Err(HookProblem::TimedOut { timeout: hook.config.timeout }),
        Ending::Unknown => Err(HookProblem::Lost),
    }
}

#[async_trait]
impl Layer for CommandHooks {
    /// Bounds itself, by the timeouts of its hooks.
    fn time(&self) -> LayerTime {
        LayerTime::Own
    }

    async fn before(&self, call: &LayerCall<'_>) -> Before {
        let hooks: Vec<&Hook> = self.concerned(HookPoint::Before, call).collect();
        let (mut input, mut contexts) = (None::<Value>, Vec::<String>::new());
        // The hook that made the input, which is not asked about it.
        let (mut maker, mut replacements, mut next) = (None, 0, 0);
        while let Some(hook) = hooks.get(next) {
            let number = next;
            next += 1;
            if maker == Some(number) {
                continue;
            }
            let request = request::before(call, input.as_ref());
            match self.ask::<BeforeResponse>(hook, call, request).await {
                Word::Proceed(said) => {
                    contexts.extend(said.context.filter(|context| !contexts.contains(context)));
                    let now = input.as_ref().unwrap_or(&call.call.input);
                    if let Some(other) = said.input.filter(|other| other != now) {
                        if replacements == MOST_REPLACEMENTS {
                            return Before::skip(LayerAnswer::new(
                                ReplyStatus::Denied,
                                endless(MOST_REPLACEMENTS),
                            ));
                        }
                        input = Some(other);
                        (maker, replacements, next) = (Some(number), replacements + 1, 0);
                    }
                }
                Word::Block(stderr) => {
                    return Before::skip(LayerAnswer::new(ReplyStatus::Denied, denied(&stderr)));
                }
                Word::Missing => return Before::skip(LayerAnswer::new(ReplyStatus::Denied, unchecked())),
            }
        }
        let before = match input.filter(|input| *input != call.call.input) {
            Some(input) => Before::replace_input(input),
            None => Before::proceed(),
        };
        match joined(&contexts) {
            Some(context) => before.with_context(context),
            None => before,
        }
    }

    async fn after(&self, call: &LayerCall<'_>, mut answer: LayerAnswer) -> LayerAnswer {
        for hook in self.concerned(HookPoint::After, call) {
            let request = request::after(call, &answer);
            match self.ask::<AfterResponse>(hook, call, request).await {
                Word::Proceed(said) => {
                    if let Some(text) = said.output {
                        answer.output.content = vec![Content::text(text)];
                        answer.output.structured = None;
                    }
                    let context = joined(said.context.as_slice());
                    answer.output.content.extend(context.map(Content::text));
                }
                Word::Block(stderr) => {
                    let text = refused(answer.status, &stderr);
                    return replaced(answer, text);
                }
                Word::Missing => {
                    let text = withheld(answer.status);
                    return replaced(answer, text);
                }
            }
        }
        answer
    }
}

/// Replaces what the model reads by an error; what is the host's alone stays, and how a call ended that had failed.
fn replaced(mut answer: LayerAnswer, text: String) -> LayerAnswer {
    answer.output.content = vec![Content::text(text)];
    answer.output.structured = None;
    if answer.status.is_ok() {
        answer.status = ReplyStatus::Error(ErrorKind::Failed);
    }
    answer
}

/// Joins what hooks have to say beside the output, one a paragraph; `None` if that is nothing.
fn joined(contexts: &[String]) -> Option<String> {
    let contexts: Vec<String> =
        contexts.iter().map(|context| Visible::new(context.trim()).to_string()).collect();
    let said: Vec<&str> = contexts.iter().map(String::as_str).filter(|context| !context.is_empty()).collect();
    (!said.is_empty()).then(|| said.join("\n\n"))
}

fn check(number: usize, hook: &CommandHook) -> Result<(), HookError> {
    if hook.command.first().is_none_or(String::is_empty) {
        return Err(HookError::NoProgram { number });
    }
    if hook.command.iter().any(|argument| argument.contains('\0')) {
        return Err(HookError::Nul { number });
    }
    if hook.timeout.is_zero() || hook.timeout > MOST_TIMEOUT {
        return Err(HookError::Timeout { number, timeout: hook.timeout });
    }
    Ok(())
}

/// Adds the variables that a hook lists, as far as the host has them.
fn listed(
    hook: &CommandHook,
    variables: &[(OsString, OsString)],
    mut environment: Environment,
) -> Result<Environment, EnvironmentError> {
    for name in &hook.env {
        // Checked also where the host does not have it, which it cannot have under a wrong name.
        let value = variables.iter().rev().find(|(other, _)| other.as_os_str() == name.as_str());
        environment = match value {
            Some((name, value)) => environment.with(name, value)?,
            None => Environment::minimal().with(name, "").map(|_| environment)?,
        };
    }
    Ok(environment)
}

impl fmt::Debug for CommandHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandHooks")
            .field("hooks", &self.hooks)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
