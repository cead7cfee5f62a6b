use std::time::Duration;

/// Says what the server does from the start.
#[expect(clippy::struct_excessive_bools, reason = "each is an argument of its own")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// It can be initialized; not with `--modern`.
    pub(crate) legacy: bool,
    /// It can be discovered; not with `--legacy`.
    pub(crate) modern: bool,
    /// `--revision NAME`: what it answers to `initialize`.
    pub(crate) revision: Option<String>,
    /// `--silent`: it answers nothing at all.
    pub(crate) silent: bool,
    /// `--mute-discover`: it does not answer `server/discover`.
    pub(crate) mute_discover: bool,
    /// `--never-initialized`: it does not answer `initialize`.
    pub(crate) never_initialized: bool,
    /// `--slow-start MILLISECONDS`: it takes so long before it reads.
    pub(crate) slow_start: Duration,
    /// `--banner`: it begins with lines that are no messages.
    pub(crate) banner: bool,
    /// `--stderr TEXT`: what it writes there first.
    pub(crate) stderr: Option<String>,
    /// `--endless-stderr`: it never stops writing there.
    pub(crate) endless_stderr: bool,
    /// `--die CODE`: it ends before it reads.
    pub(crate) die: Option<u8>,
    /// `--ignore-eof`: it does not end when its input does.
    pub(crate) ignore_eof: bool,
    /// `--logging`: it says that its log can be asked for.
    pub(crate) logging: bool,
    /// `--refuse-level`: it refuses to be told which messages are wanted.
    pub(crate) refuse_level: bool,
    /// `--describe FILE`: the file holds the description of `echo`, whenever the tools are listed.
    pub(crate) describe: Option<String>,
    /// `--listen SOCKET`: it serves connections to a socket of this machine.
    pub(crate) listen: Option<String>,
}

impl Settings {
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self { legacy: true, modern: true, ..Self::default() };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--legacy" => settings.modern = false,
                "--modern" => settings.legacy = false,
                "--revision" => settings.revision = Some(value()?),
                "--silent" => settings.silent = true,
                "--mute-discover" => settings.mute_discover = true,
                "--never-initialized" => settings.never_initialized = true,
                "--slow-start" => settings.slow_start = Duration::from_millis(number(&value()?)?),
                "--banner" => settings.banner = true,
                "--stderr" => settings.stderr = Some(value()?),
                "--endless-stderr" => settings.endless_stderr = true,
                "--die" => settings.die = Some(number(&value()?)?),
                "--ignore-eof" => settings.ignore_eof = true,
                "--logging" => settings.logging = true,
                "--refuse-level" => settings.refuse_level = true,
                "--describe" => settings.describe = Some(value()?),
                "--listen" => settings.listen = Some(value()?),
                _ => return Err(format!("the argument {argument} is not known")),
            }
        }
        Ok(settings)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}
