mod scan;
mod select;

use super::{OutputError, OutputStore};
use crate::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use async_trait::async_trait;
use haft_core::{Origin, OutputId, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec, Visible};
use regex::bytes::{Regex, RegexBuilder};
use scan::Pieces;
use schemars::JsonSchema;
use select::{Selection, Wanted};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

/// The name of the tool, by which the note on what was cut speaks of it.
pub(crate) const READ_OUTPUT: &str = "read_output";

/// How many bytes of numbered lines a reply has: below the executor's default bound of 32 KiB.
const SLICE_BYTES: usize = 30 * 1024;

/// How many bytes of one line are given.
const LINE_BYTES: usize = 2000;

/// How large a compiled regular expression may be, in bytes: 2.5 % of what the regex crate allows by default.
const PATTERN_BYTES: usize = 256 << 10;

/// How deep a regular expression may nest.
const PATTERN_NESTING: u32 = 50;

const DESCRIPTION: &str = "\
Reads an output of an earlier call that was too long to be given whole: the note on what was cut names it. Each line is \
given with its number and a tab in front; neither is part of the output. Without `offset`, `limit` and `grep` the first \
2,000 lines are given; a long output is given up to about 30 KiB at a time, and the reply says how to go on. Lines over \
2,000 bytes are cut and marked; `column` gives the rest of one.";

/// Reads a part of a stored output: the tool `read_output`.
///
/// It declares no accesses: it gives a run nothing but what calls of that run, of the run that started it, or of those
/// that it started were answered with, and every one of these calls was decided on its own. The output is read in
/// pieces, so that memory does not grow with it; a call costs at most one pass over it, or two for an offset from the end.
/// A regular expression is matched in time linear in the output's size.
///
/// ```
/// use haft_tools_core::{LocalExecutor, LocalOutputs, OutputStore, Policy, ReadOutput, Rule, ToolRegistry};
/// use std::sync::Arc;
///
/// let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
/// let registry = ToolRegistry::new().with(ReadOutput::new(Arc::clone(&outputs)))?;
/// let executor = LocalExecutor::builder(registry)
///     .policy(Policy::new().allow(Rule::tools("read_output".parse()?)))
///     .outputs(outputs)
///     .build();
/// # let _ = executor;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReadOutput {
    spec: ToolSpec,
    store: Arc<dyn OutputStore>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The output to read, such as `o1`.
    output: String,
    /// The line to start at, counted from 1. A negative number counts from the end: -20 starts 20 lines before it.
    #[serde(default = "first")]
    offset: i64,
    /// The most lines to give, up to 2,000.
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1))]
    limit: u64,
    /// Gives only lines in which this regular expression matches.
    #[serde(default)]
    #[schemars(with = "String", skip_serializing_if = "Option::is_none", length(min = 1, max = 2000))]
    grep: Option<String>,
    /// Whether to look for `grep` as it is written, not as a regular expression.
    #[serde(default)]
    literal: bool,
    /// The byte at which to start within the line at `offset`, counted from 1.
    #[serde(default = "first_column")]
    #[schemars(range(min = 1))]
    column: u64,
}

/// The line at which a call starts that does not say.
fn first() -> i64 {
    1
}

/// How many lines a call gets that does not say.
fn default_lines() -> u64 {
    2000
}

/// The byte of its first line at which a call starts that does not say.
fn first_column() -> u64 {
    1
}

impl ReadOutput {
    /// Makes the tool that reads the outputs of a store; the same store is to be given to the executor.
    pub fn new(store: Arc<dyn OutputStore>) -> Self {
        let spec = ToolSpec::new(ToolName::project(READ_OUTPUT), DESCRIPTION, input_schema::<Input>())
            .with_title("Read output")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() });
        Self { spec, store }
    }
}

impl Tool for ReadOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { output, offset, limit, grep, literal, column } = parse_input(input)?;
        let Ok(output) = output.parse() else {
            return Err(ToolError::invalid_input(
                "this is not the name of an output; use the one that the note on what was cut gives, such as `o1`",
            ));
        };
        let pattern = grep.map(|grep| pattern(&grep, literal)).transpose()?;
        let wanted = Wanted {
            offset,
            column,
            lines: limit.min(default_lines()),
            bytes: SLICE_BYTES,
            line_bytes: LINE_BYTES,
        };
        Ok(Prepared::new(Accesses::none(), Read { store: Arc::clone(&self.store), output, wanted, pattern }))
    }
}

/// Compiles what the model wrote; the bounds on its size make what is too costly an error.
fn pattern(grep: &str, literal: bool) -> Result<Regex, ToolError> {
    let text = if literal { regex::escape(grep) } else { grep.to_owned() };
    RegexBuilder::new(&text)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .nest_limit(PATTERN_NESTING)
        .build()
        .map_err(|error| {
            let wrong = match &error {
                regex::Error::CompiledTooBig(_) => "is too large; use a simpler one".to_owned(),
                regex::Error::Syntax(report) => format!(
                    "cannot be read: {}; correct it, or set `literal` to look for it as it is written",
                    report.lines().last().unwrap_or_default().trim_start_matches("error: ")
                ),
                _ => "cannot be used; use another one".to_owned(),
            };
            ToolError::invalid_input(format!("the regular expression in `grep` {wrong}")).with_source(error)
        })
}

/// How large the whole output is.
struct Total {
    lines: u64,
    bytes: u64,
}

struct Read {
    store: Arc<dyn OutputStore>,
    output: OutputId,
    wanted: Wanted,
    pattern: Option<Regex>,
}

#[async_trait]
impl Action for Read {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let selected = cx.cancellation().run_until_cancelled(self.select(cx.scope())).await;
        let Some(selected) = selected else {
            return Err(ToolError::cancelled("the call was cancelled before it was done"));
        };
        let (selection, total) = selected.map_err(failure)?;
        let mut text = self.head(&total);
        text.push_str(&selection.text);
        self.foot(&mut text, &selection, total.lines);
        text.truncate(text.trim_end_matches('\n').len());
        Ok(ToolOutput::text(text).with_details(json!({
            "output": self.output.as_str(),
            "first_line": selection.first,
            "last_line": selection.last,
            "given_lines": selection.given,
            "total_lines": total.lines,
            "bytes": total.bytes,
        })))
    }
}

impl Read {
    async fn select(&self, scope: &CallScope) -> Result<(Selection, Total), OutputError> {
        let mut pieces = Pieces::open(&*self.store, scope, &self.output).await?;
        let total = Total { lines: pieces.total_lines, bytes: pieces.total_bytes };
        let first = match u64::try_from(self.wanted.offset) {
            Ok(offset) => offset.max(1),
            Err(_) => total.lines.saturating_sub(self.wanted.offset.unsigned_abs()) + 1,
        };
        let mut selection = Selection::new(first, self.wanted, self.pattern.clone());
        if first > total.lines {
            return Ok((selection, total));
        }
        pieces.skip_lines(first - 1).await?;
        while !selection.is_full {
            let Some(piece) = pieces.next().await? else { break };
            if self.pattern.is_none() {
                selection.take(&piece);
                continue;
            }
            // A pattern can take long over a piece, though never longer than linear in its size.
            let searched = tokio::task::spawn_blocking(move || {
                selection.take(&piece);
                selection
            });
            selection = searched.await.map_err(|source| OutputError::Other { source: source.into() })?;
        }
        selection.finish();
        Ok((selection, total))
    }

    /// Says what the output is: ``output `o1`: 120 lines, 3482 bytes``.
    fn head(&self, total: &Total) -> String {
        let (lines, bytes) = (counted(total.lines, "line"), counted(total.bytes, "byte"));
        format!("output `{}`: {lines}, {bytes}\n", Visible::line(self.output.as_str()))
    }

    /// Says which lines were given, where that is not all of them, and how to go on.
    fn foot(&self, text: &mut String, selection: &Selection, total: u64) {
        let Selection { first, last, given, .. } = *selection;
        let mut note = |words: String| {
            let _ = writeln!(text, "[{words}]");
        };
        if let Some((line, column)) = selection.first_cut {
            note(format!(
                "lines over {LINE_BYTES} bytes are cut; for the rest of line {line} use offset {line}, limit 1 and column \
                 {column}"
            ));
        }
        if first > total {
            if total > 0 {
                note(format!(
                    "there is no line {first}: the output ends at line {total}; use an offset from 1 to {total}, or a \
                     negative one for its last lines"
                ));
            }
        } else if self.pattern.is_some() {
            let matching = if given == 1 { "line matches" } else { "lines match" };
            if selection.has_more {
                let range = range(first, last);
                note(format!("{given} {matching} in {range} of {total}; continue with offset {}", last + 1));
            } else {
                note(format!("{given} {matching} in {} of {total}", range(first, total)));
            }
        } else if last < total {
            note(format!("{} of {total}; continue with offset {}", range(first, last), last + 1));
        } else if first > 1 {
            note(format!("{} of {total}, the end of the output", range(first, last)));
        }
    }
}

fn range(first: u64, last: u64) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}–{last}") }
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

fn failure(error: OutputError) -> ToolError {
    let failed = match &error {
        OutputError::Unknown { output } => ToolError::not_found(format!(
            "there is no output `{}`; use the name that the note on what was cut gives",
            Visible::line(output.as_str())
        )),
        OutputError::Evicted { output } => ToolError::not_found(format!(
            "the output `{}` is no longer kept, to make room for newer ones; repeat the call that gave it, and ask for \
             less at once",
            Visible::line(output.as_str())
        )),
        _ => ToolError::retry(
            "the output cannot be read now; try once more, or repeat the call that gave it and ask for less at once",
        ),
    };
    failed.with_source(error)
}

impl std::fmt::Debug for ReadOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadOutput").field("spec", &self.spec).finish_non_exhaustive()
    }
}
