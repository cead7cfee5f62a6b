//! What a script will do, read from its text before it runs.
//!
//! A script is split into tokens ([`crate::syntax`]), a grammar of bash makes commands of them, and each command in it,
//! wherever it stands, becomes accesses: it is executed; what is redirected and what the catalog knows of it is read,
//! written or connected to; the commands it runs are commands again.
//!
//! Two directions are told apart. What may be *allowed* by a rule must be certain: whatever is not known for sure, such as a
//! name that comes from a variable, adds an opaque access. What may be *denied* by a rule is told as well as it can be: a
//! command is declared wherever it could run, also in a branch that is never taken.
//!
//! # What is trusted
//!
//! The grammar decides which words are commands, and words are read here before it sees them, so that quotes, expansions
//! and comments are never its business. Programs are what their names say: what lies in the directories of `PATH` is the
//! host's affair. A file that a command reads is the one that is there when the script is read.

#[cfg(feature = "sandbox")]
mod asked;
mod assignment;
mod builtin;
mod command;
mod directory;
mod grammar;
mod other_shell;
mod paths;
mod standard_input;
mod walk;

#[cfg(feature = "sandbox")]
pub(crate) use self::asked::{Asked, asked};
use self::directory::Current;
use crate::EXEC;
use crate::catalog::{CommandCatalog, Word};
use crate::command_patterns::canonical;
use crate::last_directory::End;
use crate::script::Surroundings;
use crate::syntax::{Failure, Scanned, Unreadable, scan};
use haft_tools_core::{Access, Accesses, Resource};
use haft_workdir::WorkdirPath;
use std::collections::HashSet;

/// How many accesses are declared one by one. They are compared with one another, and a script can have many commands.
const MOST_ACCESSES: usize = 256;

/// How deep scripts within scripts are read, as in `bash -c "eval 'ls'"`.
const MOST_SCRIPTS: usize = 12;

/// How many bytes of scripts within scripts are read, as they can be in the script several times.
const MOST_BYTES: usize = 4 * 128 * 1024;

/// What is known of a script before it runs.
pub(crate) struct ReadScript {
    pub(crate) accesses: Accesses,
    /// Whether this is certainly all that it does.
    pub(crate) is_understood: bool,
    pub(crate) end: End,
}

/// Reads a script that runs in a directory, and says what it will do, and where it ends.
pub(crate) fn accesses(
    script: &str,
    surroundings: &Surroundings,
    directory: &WorkdirPath,
    description: &str,
    given: Option<&str>,
) -> ReadScript {
    let start = Current::inside(directory);
    let mut analysis = Analysis::new(surroundings, start.clone());
    analysis.given = given;
    match analysis.script(script) {
        Ok(()) => {
            let end = analysis.end(&start);
            analysis.look_at_given();
            let is_understood = analysis.is_understood();
            ReadScript { accesses: analysis.finish(script, description, &end), is_understood, end }
        }
        Err(Unreadable(why)) => {
            let moves = ["cd", "pushd", "popd"].iter().any(|command| script.contains(command));
            let end = if moves { End::Untold } else { End::Same };
            ReadScript { accesses: unread(script, description, why), is_understood: false, end }
        }
    }
}

/// Says what a program will do that is run without a shell in a directory, and whether that is certainly all.
pub(crate) fn program_accesses(
    words: Vec<Word>,
    command: &str,
    surroundings: &Surroundings,
    directory: &WorkdirPath,
    description: &str,
    given: Option<&str>,
) -> (Accesses, bool) {
    let mut analysis = Analysis::new(surroundings, Current::inside(directory));
    analysis.given = given;
    let is_of_shell = builtin::is_of_shell_alone(&words[0].text);
    match analysis.words(words, "", None) {
        Ok(()) => {
            if is_of_shell {
                analysis.opaque("what a program does that is named like a command of the shell");
            }
            analysis.look_at_given();
            let is_understood = analysis.is_understood();
            (analysis.finish(command, description, &End::Same), is_understood)
        }
        Err(Unreadable(why)) => (unread(command, description, why), false),
    }
}

/// Declares a script of which nothing is known.
fn unread(script: &str, description: &str, why: &str) -> Accesses {
    let execute = described(Access::execute(Resource::exact(EXEC, script)).exclusive(), description);
    Accesses::from([execute, Access::opaque(format!("the script is not understood: it has {why}"))])
}

fn described(access: Access, description: &str) -> Access {
    if description.trim().is_empty() { access } else { access.with_detail(description) }
}

/// What is known while a script is read.
struct Analysis<'a> {
    surroundings: &'a Surroundings,
    catalog: &'a CommandCatalog,
    home: Option<String>,
    current: Current,
    /// The commands in the order in which they stand, and whether all that they do is known.
    commands: Vec<(String, bool)>,
    seen: HashSet<(String, bool)>,
    accesses: Vec<Access>,
    /// What cannot be told, and why.
    reasons: Vec<String>,
    functions: HashSet<String>,
    /// The variables that keep their values.
    constants: HashSet<String>,
    /// What the call gives to the standard input of all of it.
    given: Option<&'a str>,
    /// Whether any command changes the directory, whether any leaves the script or part of it, and whether a failure may end
    /// it with one.
    moves: bool,
    leaves: bool,
    stops: bool,
    /// How many scripts, and how many commands that run others, are being read.
    scripts: usize,
    wrappers: usize,
    bytes: usize,
}

impl<'a> Analysis<'a> {
    fn new(surroundings: &'a Surroundings, current: Current) -> Self {
        let home = surroundings.environment.variable("HOME").and_then(|home| home.to_str());
        let home = home.filter(|home| home.starts_with('/')).map(str::to_owned);
        Self {
            surroundings,
            catalog: &surroundings.catalog,
            home,
            current,
            commands: Vec::new(),
            seen: HashSet::new(),
            accesses: Vec::new(),
            reasons: Vec::new(),
            functions: HashSet::new(),
            constants: HashSet::new(),
            given: None,
            moves: false,
            leaves: false,
            stops: false,
            scripts: 0,
            wrappers: 0,
            bytes: 0,
        }
    }

    /// Reads a script that runs where this one does.
    fn script(&mut self, script: &str) -> Result<(), Unreadable> {
        self.bytes += script.len();
        if self.scripts == MOST_SCRIPTS || self.bytes > MOST_BYTES {
            return Err(Unreadable("scripts in scripts, nested too deep"));
        }
        let program = grammar::parse(script)?;
        self.scripts += 1;
        let read = self.program(&program);
        self.scripts -= 1;
        read
    }

    /// Reads a script that runs in a process of its own.
    fn script_apart(&mut self, script: &str) -> Result<(), Unreadable> {
        let current = self.current.clone();
        let read = self.script(script);
        self.current = current;
        read
    }

    /// Says that something cannot be told.
    fn opaque(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.reasons.len() < MOST_ACCESSES && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Declares a command, and whether all that it does is known.
    fn command_is(&mut self, text: String, is_known: bool) -> Result<(), Unreadable> {
        let command = (text, is_known);
        if !self.seen.contains(&command) {
            self.seen.insert(command.clone());
            self.commands.push(command);
        }
        if self.commands.len() > MOST_ACCESSES {
            return Err(Unreadable("too many commands"));
        }
        Ok(())
    }

    fn access(&mut self, access: Access) {
        if self.accesses.len() <= MOST_ACCESSES && !self.accesses.contains(&access) {
            self.accesses.push(access);
        }
    }

    /// Reads one word of a command, and the scripts that are run to expand it.
    fn word(&mut self, source: &str) -> Result<Word, Unreadable> {
        let word = self.expanded(source)?;
        Ok(if word.is_literal { Word::literal(word.text) } else { Word::source(source) })
    }

    fn expanded(&mut self, source: &str) -> Result<Scanned, Unreadable> {
        let (word, end) = scan(source, 0, 0, self.home.as_deref())?;
        if end != source.len() {
            return Err(Unreadable("a word with an operator in it"));
        }
        if let Some(hazard) = word.hazard {
            self.opaque(format!("`{source}` is {hazard}"));
        }
        self.can_fail(word.failure);
        for script in &word.scripts {
            self.script_apart(script)?;
        }
        Ok(word)
    }

    /// Takes into account that what follows may not run.
    fn can_fail(&mut self, failure: Failure) {
        match failure {
            Failure::None => {}
            Failure::EndsScript => self.stops = true,
            // The script may succeed all the same.
            Failure::SkipsLine => self.leaves = true,
        }
    }

    /// Says in which directory the script ends.
    fn end(&self, start: &Current) -> End {
        if !self.moves {
            return End::Same;
        }
        match &self.current {
            _ if self.leaves || !self.functions.is_empty() || !self.reasons.is_empty() => End::Untold,
            current if current == start && !self.stops => End::Same,
            Current::Inside { path, is_sure: true } => {
                End::At { path: path.clone(), needs_success: self.stops }
            }
            _ => End::Untold,
        }
    }

    /// Takes into account that what the call gives is read by commands of which it is not known what they make of it.
    fn look_at_given(&mut self) {
        const BEGINNING_BYTES: usize = 200;
        let Some(given) = self.given.filter(|_| !self.is_understood()) else { return };
        let beginning = &given[..given.floor_char_boundary(BEGINNING_BYTES)];
        let more = if beginning.len() < given.len() { "…" } else { "" };
        self.opaque(format!("what is made of the input: {beginning}{more}"));
    }

    fn is_understood(&self) -> bool {
        let is_all_told = self.reasons.is_empty() && (!self.moves || self.functions.is_empty());
        is_all_told
            && self.accesses.len() <= MOST_ACCESSES
            && self.commands.iter().all(|(_, is_known)| *is_known)
    }

    fn finish(mut self, script: &str, description: &str, end: &End) -> Accesses {
        if self.accesses.len() > MOST_ACCESSES {
            return unread(script, description, "too many commands");
        }
        if self.moves && !self.functions.is_empty() {
            self.opaque("it depends on the directory what a function does, and that changes");
        }
        let mut is_first = true;
        let mut commands = Vec::new();
        for (command, is_known) in self.commands {
            let execute = Access::execute(Resource::exact(EXEC, command));
            // Scripts after one that ends elsewhere start there; where it ends can be told another time if not now.
            let moves = is_first && *end != End::Same;
            let execute = if is_known && !moves { execute.unordered() } else { execute.exclusive() };
            commands.push(if is_first { described(execute, description) } else { execute });
            is_first = false;
        }
        // Where no command can carry it, what a decision is about besides stands with what cannot be told.
        let about = Some(description.trim()).filter(|about| is_first && !about.is_empty());
        let reasons = self.reasons.into_iter().map(|reason| match about {
            Some(about) => Access::opaque(format!("{reason}: {about}")),
            None => Access::opaque(reason),
        });
        commands.into_iter().chain(self.accesses).chain(reasons).collect()
    }
}
