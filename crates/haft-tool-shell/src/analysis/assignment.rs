//! Which variables matter to what commands do.

use super::Analysis;
use crate::catalog::is_harmless_assignment;
use crate::syntax::{Unreadable, is_number, scan};
use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue};

/// Variables by which bash itself works: setting one changes what the script means.
const OF_BASH: [&str; 26] = [
    "BASHOPTS",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_COMPAT",
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "CDPATH",
    "DIRSTACK",
    "ENV",
    "EXECIGNORE",
    "FIGNORE",
    "FUNCNEST",
    "GLOBIGNORE",
    "HOME",
    "HOSTFILE",
    "IFS",
    "OLDPWD",
    "OPTIND",
    "PATH",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS4",
    "PWD",
    "SHELL",
    "SHELLOPTS",
];

/// Variables that commands are given whatever the host says, so that setting one sets it for them.
const GIVEN: [&str; 7] =
    ["EDITOR", "GIT_EDITOR", "GIT_PAGER", "MANPAGER", "PAGER", "SSH_ASKPASS_REQUIRE", "VISUAL"];

/// Variables of bash that nobody can set.
const CONSTANT: [&str; 6] = ["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"];

/// The beginning of the variables by which settings of git are given.
const GIVEN_TO_GIT: &str = "GIT_CONFIG_";

fn is_given(name: &str) -> bool {
    GIVEN.contains(&name) || name.starts_with(GIVEN_TO_GIT)
}

/// What setting a variable can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Harmless,
    /// It matters to the commands that are given it.
    Other,
    /// It matters to bash.
    OfBash,
}

impl Kind {
    /// What setting it to a value does, which is not known if there is none.
    pub(super) fn of(name: &str, value: Option<&str>) -> Self {
        if value.is_some_and(|value| is_harmless_assignment(&format!("{name}={value}"))) {
            Self::Harmless
        } else if OF_BASH.contains(&name)
            || ["LD_", "DYLD_", "BASH_FUNC_", "COMP_"].iter().any(|prefix| name.starts_with(prefix))
        {
            Self::OfBash
        } else {
            Self::Other
        }
    }
}

impl Analysis<'_> {
    /// Takes into account that a variable of the shell is set.
    pub(super) fn assigned(&mut self, name: &str, value: Option<&str>) {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_given = || is_given(name) || self.surroundings.environment.variable(name).is_some();
        match Kind::of(name, value) {
            _ if !is_name => self.opaque(format!("which variable `{name}` is")),
            Kind::Harmless => {}
            Kind::Other if !is_given() => {}
            Kind::Other | Kind::OfBash => {
                self.opaque(format!("what commands do once the variable `{name}` is set"));
            }
        }
    }

    /// Tells whether a variable cannot be set, or possibly so.
    pub(super) fn is_constant(&self, name: &str) -> bool {
        CONSTANT.contains(&name) || self.constants.contains(name)
    }

    /// Takes into account that a variable is set for all commands that follow.
    pub(super) fn exported(&mut self, name: &str, value: Option<&str>) {
        if Kind::of(name, value) != Kind::Harmless {
            self.opaque(format!("what commands do once the variable `{name}` is set"));
        }
    }

    /// The value in the source of `NAME=VALUE`, if it is known.
    pub(super) fn value_of(&self, source: &str) -> Option<String> {
        let (word, end) = scan(source, 0, 0, self.home.as_deref()).ok()?;
        let (_, value) = word.text.split_once('=').filter(|_| word.is_literal && end == source.len())?;
        Some(value.to_owned())
    }

    /// Reads the value of an assignment, and returns the variable.
    pub(super) fn assignment<'s>(&mut self, assignment: &'s Assignment) -> Result<&'s str, Unreadable> {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name,
            AssignmentName::ArrayElementName(name, index) => {
                if !is_number(index) {
                    self.opaque(format!("`{index}` is evaluated as an index"));
                }
                name
            }
        };
        match &assignment.value {
            AssignmentValue::Scalar(value) => {
                self.expanded(&value.value)?;
            }
            AssignmentValue::Array(values) => {
                for (key, value) in values {
                    if let Some(key) = key {
                        self.opaque(format!("`{}` is evaluated as an index", key.value));
                    }
                    self.expanded(&value.value)?;
                }
            }
        }
        Ok(name)
    }
}
