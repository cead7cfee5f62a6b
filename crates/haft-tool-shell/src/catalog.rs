//! What commands do, as data: which of their words are options, paths, hosts and other commands.
//!
//! The files in `catalog/commands/` are read once, by `format` into what `compile` holds; `reading` holds the words of one
//! simple command against it, and `kind` says what each of them comes to. What a catalog is and is not, its users read at
//! [`CommandCatalog`].

mod compile;
mod effects;
mod format;
mod grammar;
mod kind;
mod lookup;
mod reading;
mod scripts;
#[cfg(test)]
mod tests;

#[cfg(feature = "analysis")]
pub(crate) use self::effects::Host;
pub(crate) use self::effects::{Effects, Word};
#[cfg(any(feature = "analysis", test))]
pub(crate) use self::effects::{Nested, Target};
pub use self::format::CommandCatalogError;
#[cfg(feature = "analysis")]
pub(crate) use self::scripts::is_harmless_assignment;

use self::compile::Command;
use self::lookup::Place;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The files of the built-in catalog.
const FILES: [&str; 11] = [
    include_str!("catalog/commands/archives.toml"),
    include_str!("catalog/commands/builtins.toml"),
    include_str!("catalog/commands/cloud.toml"),
    include_str!("catalog/commands/containers.toml"),
    include_str!("catalog/commands/databases.toml"),
    include_str!("catalog/commands/development.toml"),
    include_str!("catalog/commands/files.toml"),
    include_str!("catalog/commands/git.toml"),
    include_str!("catalog/commands/macos.toml"),
    include_str!("catalog/commands/system.toml"),
    include_str!("catalog/commands/text.toml"),
];

/// Commands by their names.
type Commands = HashMap<Box<str>, Arc<Command>>;

/// The commands of the built-in catalog, read when one is first looked for: that takes longer than all else at the start of a
/// program, and most calls are of no command.
static BUILT_IN: LazyLock<Commands> = LazyLock::new(|| {
    let read = |text: &&str| format::commands(text).expect("the built-in catalog is read by the tests");
    FILES.iter().flat_map(read).collect()
});

/// What is known of commands: which only read, and what the others touch.
///
/// It is cheap to clone. Looking at a command costs a few microseconds and never fails. One that knows more commands is given to
/// [`Bash::catalog`](crate::Bash::catalog) and [`CommandPatterns::catalog`](crate::CommandPatterns::catalog).
///
/// # Example
///
/// ```
/// use haft_tool_shell::{Bash, CommandCatalog, Environment};
///
/// # let tree = haft_testkit::Tree::new();
/// # let workdir = tree.workdir();
/// // A program of the project's, which reads the files that it is given.
/// let catalog = CommandCatalog::built_in().extended("[check-styles]\noperands = 'read*'")?;
/// assert!(catalog.knows("check-styles") && !CommandCatalog::built_in().knows("check-styles"));
/// let bash = Bash::new(workdir, Environment::minimal()).catalog(catalog);
/// # let _ = bash;
/// # Ok::<(), haft_tool_shell::CommandCatalogError>(())
/// ```
///
/// # Strictness
///
/// An entry lists what is known to be understood, never what is known to be bad: an option, a subcommand or a number of
/// operands that is not listed makes the command one that is not understood. Words that expand to something unknown are
/// taken as paths only where they can be nothing else.
///
/// # What counts as reading
///
/// - What a tool keeps for itself and can lose without harm (caches, logs and locks of its own, the refreshed index of
///   git) is not declared.
/// - The configuration of a tool, and what it is set up with, is trusted: git's aliases and hooks, the plugins of a command
///   line, the toolchain of a project. Options that replace it (`git -c`, `--config`) are not.
/// - A command that only queries a service through the service's own command line, with the credentials the user has
///   configured for it (`gh pr list`, `kubectl get`, `aws s3 ls`, `docker ps`), is a read of that service, and declares
///   no access besides. It sends nothing but its words to a party that the user has chosen before. Queries for secrets,
///   such as `gh auth token`, are not understood.
/// - A host that stands in the command (`curl URL`, `ssh HOST`, `psql -h HOST`) is an access of its own: it could be
///   anybody's, and the words could carry anything there.
///
/// # Format
///
#[doc = include_str!("catalog/format.md")]
#[derive(Clone, Debug)]
pub struct CommandCatalog {
    /// All that it knows; that of the built-in one where there is nothing.
    own: Option<Arc<Commands>>,
}

/// How much of a command a grant may cover that outlives one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grantable {
    /// Nothing that outlives the call: the command runs whatever its other words say.
    Never,
    /// The command and the subcommands it starts with: so many of its first words.
    Words(usize),
}

impl CommandCatalog {
    /// The catalog that comes with haft.
    pub fn built_in() -> &'static Self {
        static CATALOG: CommandCatalog = CommandCatalog { own: None };
        &CATALOG
    }

    /// A catalog that knows the commands of a TOML text as well; they replace those of the same name.
    ///
    /// ```
    /// # use haft_tool_shell::CommandCatalog;
    /// let catalog = CommandCatalog::built_in().extended(
    ///     r#"
    ///     [lines]                             # lines [-n] [--to FILE] FILE...
    ///     options = "-n --to=write"
    ///     operands = "read*"
    ///     "#,
    /// )?;
    /// assert!(catalog.extended("[lines]\noptions = '--to=nowhere'").is_err());
    /// # Ok::<(), haft_tool_shell::CommandCatalogError>(())
    /// ```
    ///
    /// # Errors
    /// Where the text is not TOML, or an entry does not follow the format: with the line.
    pub fn extended(&self, toml: &str) -> Result<Self, CommandCatalogError> {
        let added = format::commands(toml)?;
        let mut commands = self.commands().clone();
        commands.extend(added);
        Ok(Self { own: Some(Arc::new(commands)) })
    }

    /// A catalog that knows the commands of a TOML text as well, and says of those that it knows already what it said.
    ///
    /// This is for entries of others than who chose this catalog: by a new entry for `env` a command behind it that is denied
    /// would not be found.
    ///
    /// ```
    /// # use haft_tool_shell::CommandCatalog;
    /// assert!(CommandCatalog::built_in().with_new("[lines]\noperands = 'read*'").is_ok());
    /// assert!(CommandCatalog::built_in().with_new("[env]\noperands = 'text*'").is_err());
    /// # Ok::<(), haft_tool_shell::CommandCatalogError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`extended`](Self::extended); where a name is that of a command that is known, or a path.
    pub fn with_new(&self, toml: &str) -> Result<Self, CommandCatalogError> {
        let mut commands = self.commands().clone();
        for (name, command) in format::commands(toml)? {
            if name.contains('/') {
                let reason =
                    format!("`{name}` is a path; what a file does changes with it, so name a command");
                return Err(CommandCatalogError::about(toml, &name, reason));
            }
            if self.commands().contains_key(&name) {
                let reason = format!("`{name}` is known already, and what is known of it stays as it is");
                return Err(CommandCatalogError::about(toml, &name, reason));
            }
            commands.insert(name, command);
        }
        Ok(Self { own: Some(Arc::new(commands)) })
    }

    /// Tells whether something is known of a command of this name.
    pub fn knows(&self, name: &str) -> bool {
        self.commands().contains_key(name)
    }

    /// What the command does; `None` where the catalog does not know it.
    ///
    /// The first word is the command's name, alone or below `/bin` or `/usr/bin`.
    pub(crate) fn effects(&self, words: &[Word]) -> Option<Effects> {
        let command = self.command(words)?;
        Some(reading::effects(command, words))
    }

    /// How much of the command a lasting grant may cover; `None` where the catalog does not know it.
    pub(crate) fn grantable(&self, words: &[Word]) -> Option<Grantable> {
        let command = self.command(words)?;
        if command.is_never_granted {
            return Some(Grantable::Never);
        }
        let mut place = Place::start(command);
        let mut count = 1;
        for word in words.get(1..).unwrap_or_default() {
            if !word.is_literal || word.text.starts_with('-') || !place.descend(&word.text) {
                break;
            }
            count += 1;
        }
        // An option stands before the subcommand: without it the pattern would be about all of them.
        if count == 1 && Place::start(command).has_children() {
            count = words.len();
        }
        Some(if place.is_never_granted() { Grantable::Never } else { Grantable::Words(count) })
    }

    fn command(&self, words: &[Word]) -> Option<&Command> {
        let name = words.first().filter(|word| word.is_literal)?;
        let below = |folder| name.text.strip_prefix(folder);
        let name = below("/usr/bin/").or_else(|| below("/bin/")).unwrap_or(&name.text);
        self.commands().get(name).map(Arc::as_ref)
    }

    fn commands(&self) -> &Commands {
        self.own.as_deref().unwrap_or_else(|| &BUILT_IN)
    }
}
