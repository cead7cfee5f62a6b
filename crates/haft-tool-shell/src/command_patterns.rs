mod command;
mod pattern;
#[cfg(test)]
mod tests;

#[cfg(feature = "analysis")]
pub(crate) use self::command::assigned;
pub(crate) use self::command::canonical;
use self::command::{Command, pieces};
use self::pattern::Pattern;
use crate::EXEC;
use crate::catalog::{CommandCatalog, Grantable, Word};
use crate::syntax::{Unreadable, quoted, split};
use haft_tools_core::{PatternError, PatternSet, PatternSyntax, Resource, Scheme};
use std::collections::HashMap;

/// Subcommands whose next word is the name of what they run.
const RUN_NAMED: [&str; 6] = ["dlx", "exec", "run", "run-script", "task", "x"];

/// Reads the patterns of rules about commands: `git diff *`.
///
/// A pattern is a command's words, written as in a shell, and compared word by word, never as text. A `*` alone stands for
/// any number of words, also none; in a word it stands for any characters of that word. A word in quotes stands for itself.
/// A command that hides its words from its reader, by an operator, a redirection or an expansion, is not one command, and a
/// pattern that has such is refused.
///
/// `@reads` stands for the commands of which everything is known and which only read. `@understood` stands for those of
/// which everything is known: what they write and connect to is declared, and decided by rules of its own.
///
/// # To allow
///
/// - A `*` does not stand for a word that has a command execute, write or connect which does not do so otherwise, such as
///   `--output=f` of `git diff` or `-delete` of `find`; such a word has to be written out.
/// - A word that expands to something is matched by a `*` alone only, and is declared as opaque besides.
/// - `git` is also `/bin/git` and `/usr/bin/git`, and no other path.
///
/// # To ask and to deny
///
/// A command is also found by its name alone, wherever its program lies and in upper case, with other options between its
/// words, with its short options in another order, and with more words behind: `git push` touches `/opt/git -C d push -f`.
/// A word that expands is compared as it is written, so that `rm -rf '$HOME'` touches `rm -rf $HOME`.
///
/// ```
/// use haft_tool_shell::{CommandPatterns, EXEC};
/// use haft_tools_core::{PatternSyntax as _, Resource};
///
/// let patterns = CommandPatterns::new().compile(&["git diff *".into(), "git push *".into()])?;
/// let command = |text: &str| Resource::exact(EXEC, text);
/// assert_eq!(patterns.first_containing(&command("git diff --stat src")), Some(0));
/// assert_eq!(patterns.first_containing(&command("git diff --output=src/lib.rs")), None);
/// assert_eq!(patterns.first_touching(&command("/opt/git -C d push")), Some(1));
/// assert_eq!(CommandPatterns::new().suggest(&command("git log --oneline -3")).as_deref(), Some("git log *"));
/// # Ok::<(), haft_tools_core::PatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CommandPatterns {
    catalog: CommandCatalog,
}

impl Default for CommandPatterns {
    fn default() -> Self {
        Self::new()
    }
}

impl CommandPatterns {
    /// Makes the syntax, with what haft knows of commands.
    pub fn new() -> Self {
        Self { catalog: CommandCatalog::built_in().clone() }
    }

    /// Goes by another catalog, such as one that knows more commands.
    pub fn catalog(self, catalog: CommandCatalog) -> Self {
        Self { catalog }
    }
}

impl CommandPatterns {
    /// Tells whether no lasting grant is suggested for a command, wherever its program lies.
    fn is_never_granted(&self, base: &str, words: &[Word]) -> bool {
        let mut words = words.to_vec();
        words[0] = Word::literal(base);
        self.catalog.grantable(&words) == Some(Grantable::Never)
    }
}

impl PatternSyntax for CommandPatterns {
    fn speaks_of(&self, scheme: &Scheme) -> bool {
        *scheme == EXEC
    }

    fn resource(&self, text: &str) -> Result<Resource, PatternError> {
        let refused = |reason: String| PatternError::new(0, 0..text.len(), reason);
        match split(text) {
            Ok(words) if words.is_empty() => {
                Err(refused("it is empty; write the words of one command".to_owned()))
            }
            Ok(words) => Ok(Resource::exact(EXEC, command::canonical_of(words))),
            Err(Unreadable(why)) => Err(refused(format!(
                "it has {why}; write the words of one command, and test a script as a call of `bash`"
            ))),
        }
    }

    fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
        let mut set = Compiled { catalog: self.catalog.clone(), ..Compiled::default() };
        for (index, text) in patterns.iter().enumerate() {
            let pattern =
                Pattern::parse(text).map_err(|(range, reason)| PatternError::new(index, range, reason))?;
            match pattern.head() {
                Some(name) => set.by_name.entry(command::base(name)).or_default().push(index),
                None => set.of_any_name.push(index),
            }
            set.patterns.push(pattern);
        }
        Ok(Box::new(set))
    }

    fn suggest(&self, resource: &Resource) -> Option<String> {
        if *resource.scheme() != EXEC || resource.is_subtree() {
            return None;
        }
        let command = Command::split(resource.path())?;
        let words = command.words();
        let base = command::base(&words.first()?.text);
        if words.iter().any(|word| !word.is_literal)
            || self.is_never_granted(&base, words)
            || command::is_assignment(&words[0].text)
            || words[0].text.starts_with('@')
        {
            return None;
        }
        let exactly =
            |count: usize| words[..count].iter().map(|word| quoted(&word.text)).collect::<Vec<_>>().join(" ");
        let effects = self.catalog.effects(words);
        if effects.as_ref().is_some_and(|effects| !effects.marked.is_empty() || effects.opaque.is_some()) {
            return None;
        }
        let is_complete = effects.is_some_and(|effects| effects.is_complete);
        match self.catalog.grantable(words) {
            Some(Grantable::Never) => None,
            Some(Grantable::Words(count)) if is_complete || (1 < count && count < words.len()) => {
                let names = words.get(count).filter(|word| !word.text.starts_with('-'));
                let names_script =
                    RUN_NAMED.contains(&words[count.min(words.len()) - 1].text.as_str()) && names.is_some();
                Some(format!("{} *", exactly((count + usize::from(names_script)).min(words.len()))))
            }
            Some(Grantable::Words(_)) | None => Some(exactly(words.len())),
        }
    }

    fn remark(&self, resource: &Resource) -> Option<String> {
        if *resource.scheme() != EXEC || resource.is_subtree() {
            return None;
        }
        let command = Command::split(resource.path())?;
        let words = command.words();
        let marked = self.catalog.effects(words).map(|effects| effects.marked).unwrap_or_default();
        let shown = |word: &Word| word.text.chars().take(60).collect::<String>();
        if let Some(word) = marked.first().and_then(|place| words.get(*place)) {
            let word = shown(word);
            return Some(format!(
                "`{word}` may have it write, connect or run something, so that a `*` does not stand for it"
            ));
        }
        let word = shown(words.iter().find(|word| !word.is_literal)?);
        Some(format!("`{word}` is not known before it runs, so that only a `*` stands for it"))
    }
}

/// Patterns that are found by the names of commands.
#[derive(Debug)]
struct Compiled {
    catalog: CommandCatalog,
    patterns: Vec<Pattern>,
    /// In lower case and without directories; each list is in order.
    by_name: HashMap<Box<str>, Vec<usize>>,
    of_any_name: Vec<usize>,
}

impl Default for Compiled {
    fn default() -> Self {
        Self {
            catalog: CommandCatalog::built_in().clone(),
            patterns: Vec::new(),
            by_name: HashMap::new(),
            of_any_name: Vec::new(),
        }
    }
}

impl Compiled {
    /// Finds the first pattern, of those that could be about the command, for which something is so.
    fn first(&self, command: &Command<'_>, is_so: impl Fn(&Pattern) -> bool) -> Option<usize> {
        let named = self.by_name.get(&*command.base()).map_or(&[][..], Vec::as_slice);
        let first = |places: &[usize]| places.iter().copied().find(|place| is_so(&self.patterns[*place]));
        [first(named), first(&self.of_any_name)].into_iter().flatten().min()
    }
}

impl PatternSet for Compiled {
    fn first_containing(&self, resource: &Resource) -> Option<usize> {
        if *resource.scheme() != EXEC {
            return None;
        }
        if resource.is_subtree() {
            return self.patterns.iter().position(Pattern::is_everything);
        }
        let command = Command::split(resource.path())?;
        self.first(&command, |pattern| pattern.contains(&command, &self.catalog))
    }

    fn first_touching(&self, resource: &Resource) -> Option<usize> {
        if *resource.scheme() != EXEC || self.patterns.is_empty() {
            return None;
        }
        if resource.is_subtree() {
            return Some(0);
        }
        let touching = |command: &Command<'_>| {
            let touched = |command: &Command<'_>| {
                self.first(command, |pattern| pattern.touches(command, &self.catalog))
            };
            let without = command.without_settings().and_then(|command| touched(&command));
            [without, touched(command)].into_iter().flatten().min()
        };
        let command = Command::split(resource.path());
        let whole = command.as_ref().and_then(touching);
        // A script that was not understood is told by what could be commands in it.
        let parts = match &command {
            Some(command) if !command.begins_with_keyword() => None,
            _ => {
                let pieces = pieces(resource.path());
                // What was not looked at could be anything.
                if pieces.is_cut {
                    return Some(0);
                }
                pieces.commands.iter().filter_map(touching).min()
            }
        };
        [whole, parts].into_iter().flatten().min()
    }
}
