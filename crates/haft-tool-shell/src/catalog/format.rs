use super::compile::{Command, Form, Node, Task};
use super::effects::Word;
use super::grammar::{Fault, Operands, Options};
use super::kind::Kind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::Spanned;

/// A catalog that cannot be read.
///
/// ```
/// use haft_tool_shell::CommandCatalog;
///
/// let written = "[lines]\noperands = 'read*'\n\n[rows]\noperand = 'read*'\n";
/// let error = CommandCatalog::built_in().extended(written).unwrap_err();
/// assert_eq!(error.line(), 5);
/// assert!(error.reason().starts_with("unknown field `operand`"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the catalog cannot be read at line {line}: {reason}")]
pub struct CommandCatalogError {
    line: usize,
    reason: String,
}

impl CommandCatalogError {
    /// The line of the text, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong there.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Makes one about a name, at the first place where it stands.
    pub(super) fn about(text: &str, name: &str, reason: String) -> Self {
        Self::new(text, text.find(name).unwrap_or(0), reason)
    }

    fn new(text: &str, at: usize, reason: String) -> Self {
        let line = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
        Self { line, reason }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the format")]
struct Entry {
    path: String,
    also: String,
    words: bool,
    old: bool,
    info: Option<String>,
    everywhere: String,
    sub: Vec<Spanned<Entry>>,
    other: String,
    never: String,
    options: String,
    open: bool,
    operands: Option<String>,
    without: String,
    always: String,
    complete: Option<bool>,
    forms: Vec<FormEntry>,
    assignments: bool,
    adds: bool,
    stops: bool,
    grant: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FormEntry {
    when: String,
    operands: Option<String>,
    without: String,
    always: String,
    complete: Option<bool>,
    values: String,
}

/// A command under one of its names.
type Named = (Box<str>, Arc<Command>);

/// Reads the commands of a catalog, each under all its names.
pub(super) fn commands(text: &str) -> Result<Vec<Named>, CommandCatalogError> {
    let entries: BTreeMap<String, Spanned<Entry>> = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        CommandCatalogError::new(text, at, error.message().to_owned())
    })?;
    let mut commands = Vec::new();
    for (name, entry) in entries {
        let span = entry.span();
        let entry = entry.into_inner();
        let names: Vec<Box<str>> =
            entry.also.split_whitespace().map(Box::from).chain([name.into()]).collect();
        let command = command(entry).map_err(|(within, fault)| {
            let span = within.unwrap_or(span);
            let at = text.get(span.clone()).and_then(|table| table.find(&fault.part)).unwrap_or(0);
            CommandCatalogError::new(text, span.start + at, format!("`{}`: {}", fault.part, fault.reason))
        })?;
        let command = Arc::new(command);
        commands.extend(names.into_iter().map(|name| (name, Arc::clone(&command))));
    }
    Ok(commands)
}

type Within = (Option<std::ops::Range<usize>>, Fault);

fn command(mut entry: Entry) -> Result<Command, Within> {
    let outside = |fault| (None, fault);
    let has_words = entry.words;
    let mut root = Node::default();
    for sub in std::mem::take(&mut entry.sub) {
        let span = sub.span();
        let sub = sub.into_inner();
        let task = Arc::new(task(&sub, has_words).map_err(|fault| (Some(span.clone()), fault))?);
        root.at_paths(&sub.path, &|node| node.becomes(Some(&task))).map_err(|fault| (Some(span), fault))?;
    }
    root.at_paths(&entry.other, &|node| node.becomes(None)).map_err(outside)?;
    let never = |node: &mut Node| {
        node.is_never_granted = true;
        node.becomes(None)
    };
    root.at_paths(&entry.never, &never).map_err(outside)?;
    let mut everywhere = Options::default();
    everywhere.add(&entry.everywhere, has_words).map_err(outside)?;
    // A command that is nothing without a subcommand still has options of its own.
    if root.has_children() && entry.operands.is_none() && entry.complete.is_none() {
        entry.complete = Some(false);
    }
    root.task = Some(Arc::new(task(&entry, has_words).map_err(outside)?));
    let info = entry.info.as_deref().unwrap_or("--help --version");
    Ok(Command {
        has_words,
        has_old_style: entry.old,
        everywhere,
        info: info.split_whitespace().map(Box::from).collect(),
        is_never_granted: entry.grant == Some(false),
        root,
    })
}

fn task(entry: &Entry, has_words: bool) -> Result<Task, Fault> {
    let mut options = Options::default();
    options.is_open = entry.open;
    options.add(&entry.options, has_words)?;
    let operands = entry.operands.as_deref().unwrap_or_default();
    // Words of which nothing is known are no reason to believe that the command does nothing without them.
    let is_complete = entry.complete.unwrap_or(!operands.contains("unknown"));
    let plain = Form {
        when: Vec::new(),
        operands: Operands::parse(operands)?,
        without: targets(&entry.without)?,
        always: targets(&entry.always)?,
        is_complete,
        values: Options::default(),
    };
    let form = |form: &FormEntry| {
        let mut values = Options::default();
        values.add(&form.values, has_words)?;
        Ok(Form {
            values,
            when: form
                .when
                .split('&')
                .map(|group| group.split_whitespace().map(Box::from).collect())
                .collect(),
            operands: Operands::parse(form.operands.as_deref().unwrap_or(operands))?,
            without: targets(&form.without)?,
            always: targets(&form.always)?,
            is_complete: form.complete.unwrap_or(is_complete),
        })
    };
    let forms = entry.forms.iter().map(form).collect::<Result<_, Fault>>()?;
    Ok(Task {
        options,
        plain,
        forms,
        takes_assignments: entry.assignments,
        adds_words: entry.adds,
        stops: entry.stops,
        is_never_granted: entry.grant == Some(false),
    })
}

/// Reads `read-tree . write out.txt`.
fn targets(text: &str) -> Result<Vec<(Kind, Word)>, Fault> {
    let mut words = text.split_whitespace();
    let mut targets = Vec::new();
    while let Some(kind) = words.next() {
        let fault = || Fault::new(kind, "it is written `KIND PATH`, as in `read-tree .`");
        let path = words.next().ok_or_else(fault)?;
        targets.push((Kind::parse(kind).ok_or_else(fault)?, Word::literal(path)));
    }
    Ok(targets)
}
