use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::marker::Marker;

/// What commands find when the host says nothing else.
const MINIMAL: [(&str, &str); 2] = [("LANG", "C.UTF-8"), ("PATH", "/usr/local/bin:/usr/bin:/bin")];

/// What keeps programs from waiting for somebody at a terminal, from paging and from colouring.
const NON_INTERACTIVE: [(&str, &str); 11] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("EDITOR", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("TERM", "dumb"),
    ("VISUAL", "true"),
];

/// What git is told over all its own settings: a directory that only looks like a repository is none.
///
/// A file of settings in such a directory, whatever its name, could have git run programs.
const GIT_SETTING: (&str, &str) = ("safe.bareRepository", "explicit");

/// How many settings git reads from its environment; they are numbered from 0, and of the same ones the last counts.
const GIT_CONFIG_COUNT: &str = "GIT_CONFIG_COUNT";

/// The variables that are taken over from a host: who and where the user is, and where tool chains are installed.
const TAKEN_OVER: [&str; 48] = [
    "ANDROID_HOME",
    "BUN_INSTALL",
    "CARGO_HOME",
    "CONDA_PREFIX",
    "CURL_CA_BUNDLE",
    "DENO_DIR",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "M2_HOME",
    "MAVEN_HOME",
    "NIX_PATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "NO_PROXY",
    "NVM_DIR",
    "PATH",
    "PIPX_HOME",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "REQUESTS_CA_BUNDLE",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "USER",
    "UV_CACHE_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// What a name has in it when its value is probably a secret.
const SECRET_LOOKING: [&str; 9] =
    ["AUTH", "CREDENTIAL", "KEY", "PASSPHRASE", "PASSWD", "PASSWORD", "PRIVATE", "SECRET", "TOKEN"];

/// Holds the environment variables that commands are given.
///
/// Nothing is inherited from the host's process: a variable is here because the host put it here. Added to each command
/// are settings that keep programs from prompting, paging and colouring (`TERM=dumb`, `GIT_TERMINAL_PROMPT=0`,
/// `PAGER=cat`, `NO_COLOR=1` and the like), unless the host set the same variable with [`Environment::with`], and the
/// variable `HAFT_CALL`, by which the processes that come of it are found again.
///
/// Added behind the settings that the host gives git in `GIT_CONFIG_COUNT`, so that it holds whatever they say, is
/// `safe.bareRepository=explicit`: git 2.38 and later take no directory for a repository that is not called `.git`, unless
/// they are told to by `--git-dir` or `GIT_DIR`. Settings of which git could not read the number are dropped.
///
/// Its `Debug` form shows names and no values. Cheap enough to clone once a tool, not once a call.
///
/// ```
/// use haft_process::Environment;
///
/// let environment = Environment::from_vars([("HOME", "/home/ann"), ("GITHUB_TOKEN", "hunter2")])
///     .with("RUST_BACKTRACE", "1")?;
/// assert_eq!(format!("{environment:?}"), r#"Environment {"HOME", "LANG", "PATH", "RUST_BACKTRACE"}"#);
/// # Ok::<(), haft_process::EnvironmentError>(())
/// ```
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    withheld: BTreeSet<String>,
}

/// Says why a variable cannot be set.
///
/// ```
/// use haft_process::{Environment, EnvironmentError};
///
/// let error = Environment::minimal().with("A=B", "1").unwrap_err();
/// assert_eq!(error, EnvironmentError::Name { name: "A=B".into() });
/// assert_eq!(
///     error.to_string(),
///     r#"cannot set the environment variable "A=B": a name is not empty and has no `=` and no NUL byte"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The name is empty or holds a `=` or a NUL byte.
    #[error(
        "cannot set the environment variable {name:?}: a name is not empty and has no `=` and no NUL byte"
    )]
    Name {
        /// The name.
        name: OsString,
    },
    /// The value holds a NUL byte.
    #[error("cannot set the environment variable {name:?}: its value has a NUL byte")]
    Value {
        /// The name; the value may be a secret.
        name: OsString,
    },
}

impl Environment {
    /// Makes the environment that most commands can do with: `PATH=/usr/local/bin:/usr/bin:/bin` and
    /// `LANG=C.UTF-8`.
    pub fn minimal() -> Self {
        let variables = MINIMAL.map(|(name, value)| (name.into(), value.into())).into();
        Self { variables, withheld: BTreeSet::new() }
    }

    /// Takes from a host's variables what commands need, over those of [`Environment::minimal`].
    ///
    /// Taken are only variables of a fixed list: the user (`HOME USER LOGNAME SHELL`), `PATH`, the locale
    /// (`LANG LANGUAGE LC_*`), `TZ`, `TMPDIR`, places of tool chains (`CARGO_HOME RUSTUP_HOME GOPATH JAVA_HOME
    /// VIRTUAL_ENV NVM_DIR` and the like), certificates (`SSL_CERT_FILE` and the like) and proxies. Never taken is a
    /// variable whose name has `AUTH`, `CREDENTIAL`, `KEY`, `PASSPHRASE`, `PASSWD`, `PASSWORD`, `PRIVATE`, `SECRET` or
    /// `TOKEN` in it, nor one whose value is a URL with a user's name or password. What else a command needs is added
    /// with [`Environment::with`].
    ///
    /// Pass `std::env::vars_os()` for the process's own variables; unlike `vars()` it does not panic on what is not
    /// UTF-8.
    pub fn from_vars<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let mut environment = Self::minimal();
        for (name, value) in variables {
            let (name, value) = (name.into(), value.into());
            let text = name.to_str().filter(|_| check(&name, &value).is_ok());
            if let Some(text) =
                text.filter(|text| is_secret_looking(text) || is_listed(text) && has_login(&value))
            {
                environment.withheld.insert(text.to_owned());
            } else if text.is_some_and(is_listed) {
                environment.variables.insert(name, value);
            }
        }
        environment
    }

    /// Sets a variable, whatever its name looks like: what the host gives on purpose is given.
    ///
    /// # Errors
    ///
    /// When no process could have such a variable.
    pub fn with(
        mut self,
        name: impl Into<OsString>,
        value: impl Into<OsString>,
    ) -> Result<Self, EnvironmentError> {
        let (name, value) = (name.into(), value.into());
        check(&name, &value)?;
        if let Some(name) = name.to_str() {
            self.withheld.remove(name);
        }
        self.variables.insert(name, value);
        Ok(self)
    }

    /// Sets a variable that the host has not set, for a program that is started otherwise than most; its name and value are
    /// written in code.
    ///
    /// What no process could have is passed over.
    pub fn with_default(self, name: &str, value: &str) -> Self {
        if self.variables.contains_key(OsStr::new(name)) {
            return self;
        }
        self.clone().with(name, value).unwrap_or(self)
    }

    /// Names the variables of the host that [`Environment::from_vars`] left out because they look like secrets.
    ///
    /// ```
    /// use haft_process::Environment;
    ///
    /// let environment = Environment::from_vars([("HOME", "/home/ann"), ("GITHUB_TOKEN", "hunter2")]);
    /// assert!(environment.withheld().contains("GITHUB_TOKEN"));
    /// ```
    pub fn withheld(&self) -> &BTreeSet<String> {
        &self.withheld
    }

    /// Returns the value that the host gave a variable; those that are added to each command are not among them.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Finds a program in the directories of `PATH`; relative ones are passed over, since a model may write there.
    ///
    /// ```
    /// use haft_process::Environment;
    ///
    /// assert!(Environment::minimal().find_program("sh").is_some_and(|sh| sh.is_absolute()));
    /// ```
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variables.get(OsStr::new("PATH"))?;
        std::env::split_paths(path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|file| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok())
    }

    /// Everything that the processes of one call are given.
    pub(crate) fn of_call(&self, marker: &Marker) -> BTreeMap<OsString, OsString> {
        let mut variables: BTreeMap<OsString, OsString> =
            NON_INTERACTIVE.map(|(name, value)| (name.into(), value.into())).into();
        variables.extend(self.variables.iter().map(|(name, value)| (name.clone(), value.clone())));
        add_git_setting(&mut variables);
        let outer = self.variables.get(OsStr::new(Marker::VARIABLE));
        variables.insert(Marker::VARIABLE.into(), marker.value(outer.map(OsString::as_os_str)));
        variables
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment ")?;
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// Adds the setting of git behind those that there are.
fn add_git_setting(variables: &mut BTreeMap<OsString, OsString>) {
    let count = variables.get(OsStr::new(GIT_CONFIG_COUNT)).and_then(|count| count.to_str());
    let index = count.and_then(|count| count.parse::<u16>().ok()).unwrap_or(0);
    let (setting, value) = GIT_SETTING;
    variables.insert(format!("GIT_CONFIG_KEY_{index}").into(), setting.into());
    variables.insert(format!("GIT_CONFIG_VALUE_{index}").into(), value.into());
    variables.insert(GIT_CONFIG_COUNT.into(), (u32::from(index) + 1).to_string().into());
}

fn is_listed(name: &str) -> bool {
    name.starts_with("LC_") || name == Marker::VARIABLE || TAKEN_OVER.contains(&name)
}

fn is_secret_looking(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_LOOKING.iter().any(|word| name.contains(word))
}

/// Tells whether a value is a URL that a user's name stands in, as a proxy's can be.
fn has_login(value: &OsStr) -> bool {
    let value = value.as_bytes();
    value.contains(&b'@') && value.windows(3).any(|window| window == b"://")
}

fn check(name: &OsStr, value: &OsStr) -> Result<(), EnvironmentError> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
        return Err(EnvironmentError::Name { name: name.to_owned() });
    }
    if value.as_bytes().contains(&0) {
        return Err(EnvironmentError::Value { name: name.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check_vars(variables: &[(&str, &str)], taken: &Expect) {
        let environment = Environment::from_vars(variables.iter().copied());
        let taken_over: BTreeMap<_, _> = environment
            .variables
            .iter()
            .filter(|(name, value)| !MINIMAL.contains(&(name.to_str().unwrap(), value.to_str().unwrap())))
            .collect();
        taken.assert_eq(&format!("{taken_over:?}"));
    }

    #[test]
    fn takes_over_only_what_is_listed() {
        check_vars(
            &[("HOME", "/h"), ("LC_TIME", "de_DE.UTF-8"), ("PATH", "/p"), ("AWS_PROFILE", "x"), ("CI", "1")],
            &expect![[r#"{"HOME": "/h", "LC_TIME": "de_DE.UTF-8", "PATH": "/p"}"#]],
        );
    }

    #[test]
    fn never_takes_over_what_looks_like_a_secret() {
        check_vars(
            &[
                ("LC_API_KEY", "k"),
                ("LC_token", "t"),
                ("GITHUB_TOKEN", "t"),
                ("SSH_AUTH_SOCK", "/s"),
                ("HTTPS_PROXY", "http://ann:hunter2@proxy:3128"),
                ("https_proxy", "http://proxy:3128"),
            ],
            &expect![[r#"{"https_proxy": "http://proxy:3128"}"#]],
        );
    }

    #[test]
    fn passes_over_what_no_process_can_have() {
        check_vars(&[("", "x"), ("HOME", "a\0b"), ("LC_A=B", "x")], &expect!["{}"]);
    }

    #[test]
    fn lists_each_variable_once_in_order() {
        assert!(TAKEN_OVER.is_sorted_by(|left, right| left < right));
        assert!(NON_INTERACTIVE.is_sorted_by(|left, right| left < right));
        assert!(
            !TAKEN_OVER.iter().any(|name| is_secret_looking(name)),
            "a listed variable is never taken over"
        );
    }

    #[test]
    fn refuses_names_and_values_that_cannot_be_set() {
        let refused = [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")].map(|(name, value)| {
            Environment::minimal().with(name, value).expect_err("no process can have it").to_string()
        });
        expect![[r#"
            cannot set the environment variable "": a name is not empty and has no `=` and no NUL byte
            cannot set the environment variable "A=B": a name is not empty and has no `=` and no NUL byte
            cannot set the environment variable "A\0": a name is not empty and has no `=` and no NUL byte
            cannot set the environment variable "A": its value has a NUL byte"#]]
        .assert_eq(&refused.join("\n"));
    }

    #[test]
    fn what_the_host_sets_wins_over_the_settings_but_not_over_the_marker() {
        let environment =
            Environment::minimal().with("TERM", "xterm").unwrap().with("HAFT_CALL", "outer").unwrap();
        let marker = Marker::next();
        let variables = environment.of_call(&marker);
        assert_eq!(variables[OsStr::new("TERM")], "xterm");
        assert_eq!(variables[OsStr::new("PAGER")], "cat");
        assert_eq!(variables[OsStr::new("HAFT_CALL")], marker.value(Some(OsStr::new("outer"))));
    }

    #[test]
    fn git_gets_a_setting_behind_those_of_the_host() {
        let check = |count: Option<&str>, expected: &Expect| {
            let environment = Environment::minimal();
            let environment = match count {
                Some(count) => environment.with("GIT_CONFIG_COUNT", count).unwrap(),
                None => environment,
            };
            let variables = environment.of_call(&Marker::next());
            let of_git = variables.iter().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_CONFIG_"));
            let of_git: Vec<_> =
                of_git.map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
            expected.assert_eq(&of_git.join(" "));
        };
        let alone =
            expect!["GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.bareRepository GIT_CONFIG_VALUE_0=explicit"];
        check(None, &alone);
        check(
            Some("2"),
            &expect!["GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_2=safe.bareRepository GIT_CONFIG_VALUE_2=explicit"],
        );
        // Git would refuse to run at all.
        for count in ["", "many", "-1", "65536", "99999999999"] {
            check(Some(count), &alone);
        }
    }

    #[test]
    fn finds_programs_in_absolute_directories_only() {
        let with_path = |path: &str| Environment::minimal().with("PATH", path).unwrap();
        assert!(
            with_path("relative::/nowhere:/usr/bin:/bin")
                .find_program("env")
                .is_some_and(|env| env.is_absolute())
        );
        assert_eq!(with_path(".:src:").find_program("lib.rs"), None);
        assert_eq!(with_path("").find_program("env"), None);
    }
}
