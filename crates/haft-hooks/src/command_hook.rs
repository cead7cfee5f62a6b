use haft_tools_core::Selector;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long a hook may take when nothing else is said: what Claude Code first gave its hooks (600 s since), and half of
/// what a call gets here.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// Configures one program that is asked about calls.
///
/// Its serde form is made for configuration files: `tools` is a selector as text, `timeout` a number of seconds, and
/// unknown keys are refused.
///
/// ```
/// use haft_hooks::{CommandHook, Obligation};
/// use serde_json::json;
///
/// let hook: CommandHook = serde_json::from_value(json!({
///     "when": "after",
///     "tools": "@github, !get_*",
///     "command": ["audit-call"],
///     "obligation": "advisory",
///     "env": ["AUDIT_URL"],
/// }))?;
/// let same = CommandHook::after("@github, !get_*".parse()?, ["audit-call"])
///     .obligation(Obligation::Advisory)
///     .env(["AUDIT_URL"]);
/// assert_eq!(hook, same);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CommandHook {
    /// Whether it is asked before or after a call.
    pub when: HookPoint,
    /// The tools whose calls it is asked about, all by default; explicit-only tools are not outside its wildcards.
    #[serde(default = "Selector::all", with = "text")]
    pub tools: Selector,
    /// The program and its arguments. A program without a slash is looked for in the directories of `PATH`, one with a
    /// slash relative to the hooks' directory.
    pub command: Vec<String>,
    /// What it means when the program fails; required by default.
    #[serde(default)]
    pub obligation: Obligation,
    /// How long it may take, from when it is started: 60 s by default, 600 s at most. In configuration a number of seconds, also with a fraction.
    #[serde(default = "default_timeout", with = "seconds")]
    pub timeout: Duration,
    /// The names of variables that it gets from the host beside those every program gets, secrets included; one that the
    /// host does not have is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
}

/// Says when a hook is asked.
///
/// ```
/// use haft_hooks::{CommandHook, HookPoint};
///
/// let hooks: Vec<CommandHook> = serde_json::from_str(
///     r#"[{ "when": "before", "command": ["check"] }, { "when": "after", "command": ["audit"] }]"#,
/// )?;
/// let audits: Vec<&CommandHook> = hooks.iter().filter(|hook| hook.when == HookPoint::After).collect();
/// assert_eq!(audits, [&CommandHook::after("*".parse()?, ["audit"])]);
/// assert_eq!(HookPoint::After.to_string(), "after");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookPoint {
    /// Before a call that is permitted runs; again when another hook or layer replaced its input since.
    Before,
    /// After it ended, however it did. Calls that the policy denies, that are invalid or that a layer further out skipped
    /// are never shown.
    After,
}

/// Says what it means for a call when a hook fails to give an answer.
///
/// A program that cannot be started says nothing of a call; what that means is its obligation:
///
/// ```
/// use haft_core::{Schema, ToolCall, ToolSpec};
/// use haft_hooks::{CommandHook, CommandHooks, Obligation};
/// use haft_tools_core::{Accesses, Before, CallScope, Layer as _, LayerCall, Selector};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let call = ToolCall::new("c1".parse()?, "now", serde_json::json!({}));
/// # let spec = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty());
/// # let (scope, accesses) = (CallScope::new("run-1".parse()?), Accesses::none());
/// # let call = LayerCall::new(&call, &spec, &scope, &accesses);
/// let hook = CommandHook::before(Selector::all(), ["/nowhere/check"]);
/// let advisory = hook.clone().obligation(Obligation::Advisory);
/// let hooks = CommandHooks::new([advisory], "/", std::env::vars_os())?;
/// assert_eq!(hooks.before(&call).await, Before::proceed());
///
/// let hooks = CommandHooks::new([hook], "/", std::env::vars_os())?;
/// assert_ne!(hooks.before(&call).await, Before::proceed(), "required is the default");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Obligation {
    /// Without its answer the call does not run, or its result is withheld.
    #[default]
    Required,
    /// The host is told, and the call goes on.
    Advisory,
}

impl CommandHook {
    /// Asks a program before the calls of these tools.
    pub fn before<A: Into<String>>(tools: Selector, command: impl IntoIterator<Item = A>) -> Self {
        Self::new(HookPoint::Before, tools, command)
    }

    /// Asks a program after the calls of these tools.
    pub fn after<A: Into<String>>(tools: Selector, command: impl IntoIterator<Item = A>) -> Self {
        Self::new(HookPoint::After, tools, command)
    }

    fn new<A: Into<String>>(when: HookPoint, tools: Selector, command: impl IntoIterator<Item = A>) -> Self {
        Self {
            when,
            tools,
            command: command.into_iter().map(Into::into).collect(),
            obligation: Obligation::default(),
            timeout: DEFAULT_TIMEOUT,
            env: Vec::new(),
        }
    }

    /// Sets what it means when the program fails.
    pub fn obligation(mut self, obligation: Obligation) -> Self {
        self.obligation = obligation;
        self
    }

    /// Sets how long it may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Names the variables that it gets from the host besides.
    pub fn env<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.env = names.into_iter().map(Into::into).collect();
        self
    }
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

fn default_timeout() -> Duration {
    DEFAULT_TIMEOUT
}

/// Writes a selector as the text it is read from.
mod text {
    use haft_tools_core::Selector;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(tools: &Selector, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(tools)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Selector, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Writes a duration as a number of seconds, a whole one where it is.
mod seconds {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(timeout: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        if timeout.subsec_nanos() == 0 {
            serializer.serialize_u64(timeout.as_secs())
        } else {
            serializer.serialize_f64(timeout.as_secs_f64())
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| D::Error::custom(format_args!("`timeout` is {seconds:?}; give a number of seconds")))
    }
}
