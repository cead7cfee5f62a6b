//! The commands that change the shell they run in.

use super::Analysis;
use super::directory::Current;
use super::paths::{Place, Reach};
use crate::catalog::Word;
use crate::syntax::Unreadable;
use haft_tools_core::{Access, AccessMode};
use haft_workdir::EntryKind;
use std::path::Path;

/// Commands of bash that a function cannot stand for.
const BUILTINS: [&str; 48] = [
    ".", ":", "[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen",
    "complete", "continue", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit", "export",
    "false", "fg", "getopts", "hash", "jobs", "kill", "let", "local", "mapfile", "popd", "printf", "pushd",
    "pwd", "read", "readonly", "return", "set", "shift", "shopt", "source", "test", "trap", "true", "type",
    "unset",
];

/// Those of them that are programs as well, which do the same.
const PROGRAMS: [&str; 8] = ["[", "echo", "false", "kill", "printf", "pwd", "test", "true"];

/// Tells whether a command is what it is only in a shell.
pub(super) fn is_of_shell_alone(name: &str) -> bool {
    BUILTINS.contains(&name) && !PROGRAMS.contains(&name)
}

impl Analysis<'_> {
    /// Tells whether a name is that of a command, so that a function of this name would be another.
    pub(super) fn is_command(&self, name: &str) -> bool {
        BUILTINS.contains(&name) || self.catalog.effects(&[Word::literal(name)]).is_some()
    }

    /// Takes into account what a command does to the shell. Tells whether it runs its own words.
    pub(super) fn builtin(&mut self, words: &[Word]) -> Result<bool, Unreadable> {
        let Some((name, arguments)) = words.split_first() else { return Ok(false) };
        self.stops |= name.text == "set" && arguments.iter().any(|word| word.text.contains(['e', 'u']));
        match name.text.as_str() {
            "cd" => self.change_directory(arguments),
            "exit" | "exec" | "return" | "logout" => self.leaves = true,
            "pushd" | "popd" => {
                self.moves = true;
                self.current = Current::Unknown;
            }
            "alias" | "unalias" | "bind" | "enable" | "hash" | "shopt" | "compgen" | "complete"
            | "compopt" | "let" | "source" | "." | "fc" | "trap" => {
                let is_trap = name.text == "trap";
                if is_trap
                    && let [script, ..] =
                        arguments.iter().skip_while(|word| word.text == "--").collect::<Vec<_>>()[..]
                    && script.is_literal
                    && !script.text.starts_with('-')
                {
                    self.script_apart(&script.text)?;
                    self.functions.insert("trap".to_owned());
                } else if !arguments.is_empty() {
                    self.opaque(format!("what `{}` changes in the shell", name.text));
                }
            }
            "eval" => {
                if arguments.iter().all(|word| word.is_literal) {
                    let words: Vec<_> = arguments.iter().map(|word| word.text.as_str()).collect();
                    self.script(&words.join(" "))?;
                } else {
                    self.opaque(format!("which command `{}` runs", super::canonical(words)));
                }
                return Ok(true);
            }
            "set" if !arguments.iter().all(is_harmless_option) && !is_positional(arguments) => {
                self.opaque("what `set` changes in the shell");
            }
            "declare" | "typeset" | "local" | "readonly" | "export" => self.declare(&name.text, arguments),
            "read" | "mapfile" | "readarray" | "getopts" | "unset" => self.names(&name.text, arguments),
            "printf" | "wait" => {
                let option = if name.text == "printf" { "-v" } else { "-p" };
                if arguments.first().is_some_and(|word| word.text.starts_with(option)) {
                    self.names(&name.text, arguments);
                }
            }
            // Words with a `%` become the numbers of jobs before the command is read.
            "jobs"
                if arguments.iter().any(|word| word.text.starts_with('-') && word.text.contains('x'))
                    && arguments.iter().any(|word| !word.is_literal || word.text.starts_with('%')) =>
            {
                self.opaque(format!("which command `{}` runs", super::canonical(words)));
            }
            "test" | "[" => {
                let mut pairs = arguments.windows(2);
                if pairs.any(|pair| matches!(pair[0].text.as_str(), "-v" | "-R") && !is_name(&pair[1])) {
                    self.opaque(format!("`{}` evaluates an expression", super::canonical(words)));
                }
            }
            _ => {}
        }
        Ok(false)
    }

    fn change_directory(&mut self, arguments: &[Word]) {
        self.moves = true;
        let is_option = |word: &&Word| matches!(word.text.as_str(), "-P" | "-L" | "-e" | "--");
        let mut operands = arguments.iter().skip_while(is_option);
        let home = self.home.clone();
        let path = match (operands.next(), operands.next()) {
            (None, None) => home,
            (Some(word), None) if word.is_literal && !word.text.is_empty() && !word.text.starts_with('-') => {
                Some(word.text.clone())
            }
            _ => None,
        };
        let Some(path) = path else {
            self.opaque(format!("which directory `cd{}` changes to", shown(arguments)));
            self.current = Current::Unknown;
            return;
        };
        self.path(AccessMode::Read, &path, Reach::Itself);
        self.current = match self.place(&path) {
            Ok(Place::Inside(found)) => {
                let kind = self.surroundings.workdir.kind(&found);
                let is_sure = matches!(kind, Ok(EntryKind::Directory)) && !self.is_unsure();
                let text = if found.is_root() { "" } else { found.as_str() };
                // Behind a link bash takes `..` for where it came from, and programs do not.
                let is_plain = !self.passes_link(&path, text);
                if is_plain { Current::Inside { path: text.to_owned(), is_sure } } else { Current::Unknown }
            }
            Ok(Place::Outside(found, None)) => {
                let is_sure = Path::new(&found).is_dir() && !self.is_unsure();
                Current::Outside { path: found, is_sure }
            }
            Ok(Place::Outside(_, Some(_))) | Err(_) => Current::Unknown,
        };
    }

    /// Tells whether a directory that is there now may not be when the script comes to it: where it runs is not certain, or
    /// what comes before may have changed which directories there are.
    fn is_unsure(&self) -> bool {
        let is_sure = matches!(
            self.current,
            Current::Inside { is_sure: true, .. } | Current::Outside { is_sure: true, .. }
        );
        let changes = |access: &Access| access.mode() != Some(AccessMode::Read);
        !is_sure
            || !self.reasons.is_empty()
            || self.accesses.iter().any(changes)
            || self.commands.iter().any(|(_, is_known)| !*is_known)
    }

    /// Tells whether a path that was resolved is another than it reads.
    pub(super) fn passes_link(&self, path: &str, resolved: &str) -> bool {
        let current = match &self.current {
            _ if path.starts_with('/') => "",
            Current::Inside { path, .. } => path,
            Current::Outside { .. } | Current::Unknown => return true,
        };
        let root = self.surroundings.workdir.root_path().to_str().filter(|_| path.starts_with('/'));
        let Some(path) = path.strip_prefix(root.unwrap_or_default()) else { return true };
        let mut names: Vec<&str> = current.split('/').filter(|name| !name.is_empty()).collect();
        for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
            if name == ".." {
                names.pop();
            } else {
                names.push(name);
            }
        }
        names.join("/") != resolved
    }

    /// `declare`, `export` and the like.
    fn declare(&mut self, command: &str, arguments: &[Word]) {
        let (mut is_exported, mut is_constant) = (command == "export", command == "readonly");
        for word in arguments {
            let option = word.text.strip_prefix(['-', '+']);
            match option {
                _ if !word.is_literal && !word.text.contains('=') => {
                    self.opaque(format!("which variable `{}` is", word.text));
                }
                Some(letters)
                    if word.is_literal && letters.bytes().all(|letter| b"xrgpaAf-".contains(&letter)) =>
                {
                    is_exported |= letters.contains('x');
                    is_constant |= letters.contains('r');
                }
                Some(_) => self.opaque(format!("what `{command} {}` does", word.text)),
                None => {
                    let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
                    let value = word.is_literal.then_some(value);
                    let name = name.strip_suffix('+').unwrap_or(name);
                    self.assigned(name, value);
                    if is_constant {
                        self.constants.insert(name.to_owned());
                    }
                    if is_exported {
                        self.exported(name, value);
                    }
                }
            }
        }
    }

    /// Commands that set the variables they are given the names of.
    fn names(&mut self, command: &str, arguments: &[Word]) {
        for word in arguments {
            if !word.is_literal {
                self.opaque(format!("which variable `{}` is", word.text));
            } else if command == "mapfile" && word.text.starts_with("-C") {
                self.opaque("which command `mapfile` runs");
            } else if command == "printf" && word.text.starts_with("-v") && word.text.len() > 2 {
                self.assigned(&word.text[2..], None);
            } else if word.text.contains('[') || is_name(word) {
                self.assigned(&word.text, None);
            }
        }
    }
}

fn shown(words: &[Word]) -> String {
    if words.is_empty() { String::new() } else { format!(" {}", super::canonical(words)) }
}

fn is_name(word: &Word) -> bool {
    word.is_literal && word.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Tells whether an argument of `set` changes only when the shell stops and what it says.
fn is_harmless_option(word: &Word) -> bool {
    let letters = word.text.strip_prefix(['-', '+']);
    word.is_literal
        && (letters.is_some_and(|letters| {
            !letters.is_empty() && letters.bytes().all(|letter| b"eufxvnEo".contains(&letter))
        }) || matches!(
            word.text.as_str(),
            "errexit" | "nounset" | "pipefail" | "xtrace" | "verbose" | "noclobber" | "noglob"
        ))
}

/// Tells whether `set` sets the arguments of the script.
fn is_positional(arguments: &[Word]) -> bool {
    arguments.first().is_some_and(|word| word.is_literal && word.text == "--")
}
