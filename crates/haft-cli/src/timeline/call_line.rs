use crate::glyphs;
use crate::paint::{ASKS, BAD, GOOD, NAME, PLACE, QUIET};
use anstyle::Style;
use haft::ToolReply;
use haft::core::{CallId, Decision, ReplyStatus, Visible};
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// How many lines of the start of a result are shown.
const FIRST_LINES: usize = 5;

/// How many lines of the end of a result are shown.
const LAST_LINES: usize = 2;

/// The most lines of a diff that are shown.
const DIFF_LINES: usize = 40;

/// The most characters of a line that are shown.
const LINE_CHARACTERS: usize = 110;

/// Collects what is known of one call until it can be printed.
pub(super) struct CallLine {
    id: CallId,
    name: String,
    arguments: String,
    decision: Option<Decision>,
    asked: bool,
    reply: Option<Box<ToolReply>>,
    waits_below: bool,
}

impl CallLine {
    pub(super) fn new(id: CallId, name: String, input: &Value) -> Self {
        let arguments = arguments(input);
        Self { id, name, arguments, decision: None, asked: false, reply: None, waits_below: false }
    }

    pub(super) fn id(&self) -> &CallId {
        &self.id
    }

    pub(super) fn decided(&mut self, decision: Decision) {
        self.decision = Some(decision);
    }

    pub(super) fn asked(&mut self) {
        self.asked = true;
    }

    pub(super) fn answered(&mut self, reply: Box<ToolReply>) {
        self.reply = Some(reply);
    }

    pub(super) fn is_answered(&self) -> bool {
        self.reply.is_some()
    }

    /// Notes that the call waits for others below it.
    pub(super) fn waits_below(&mut self) {
        self.waits_below = true;
    }

    /// Writes the call: its name and arguments, how it was decided and how long it took, and what came of it.
    ///
    /// A terminal that went away is noticed where the whole is printed.
    pub(super) fn write(&self, out: &mut impl Write) {
        let (name, arguments) = (visible(&self.name), &self.arguments);
        let Some(reply) = &self.reply else {
            let stands = if self.waits_below { "waits for its agents" } else { "not answered" };
            let _ = writeln!(
                out,
                "  {ASKS}?{ASKS:#} {NAME}{name}{NAME:#} {arguments}  {QUIET}({stands}){QUIET:#}"
            );
            return;
        };
        let (paint, mark) = match reply.status {
            ReplyStatus::Ok => (GOOD, glyphs::of("✓", "+")),
            ReplyStatus::Cancelled | ReplyStatus::Skipped => (ASKS, "-"),
            _ => (BAD, glyphs::of("✗", "x")),
        };
        let permitted = match (self.decision, self.asked) {
            (None, _) => "",
            (Some(Decision::Deny), true) => "not approved, ",
            (Some(Decision::Deny), false) => "denied, ",
            (Some(Decision::Allow), true) => "approved, ",
            (Some(Decision::Allow), false) => "allowed, ",
            (Some(Decision::Ask), _) => "asked, ",
        };
        let status = if reply.status.is_ok() { String::new() } else { format!("{}, ", reply.status) };
        let duration = spoken(reply.duration);
        let _ = writeln!(
            out,
            "  {paint}{mark}{paint:#} {NAME}{name}{NAME:#} {arguments}  {QUIET}({permitted}{status}{duration}){QUIET:#}"
        );
        match reply.output.details.get("diff").and_then(Value::as_str) {
            Some(diff) => print_diff(out, diff, DiffPart::Start),
            None => write_result(out, &reply.output.to_text()),
        }
    }
}

/// Writes the arguments on one line: what the call is mainly about first and without its name, long texts cut.
pub(crate) fn arguments(input: &Value) -> String {
    const MAIN: [&str; 3] = ["command", "path", "pattern"];
    let Value::Object(members) = input else {
        return if input.is_null() { String::new() } else { cut(&input.to_string()) };
    };
    let main = MAIN.into_iter().find_map(|name| members.get_key_value(name));
    let mut parts: Vec<String> = main.iter().map(|(_, value)| plain(value)).collect();
    let others = members.iter().filter(|(name, _)| main.is_none_or(|(main, _)| main != *name));
    parts.extend(others.map(|(name, value)| format!("{name}={}", plain(value))));
    cut(&parts.join(" "))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('\n', "\\n"),
        value => value.to_string(),
    }
}

/// Writes the start of a result, and its last lines, since what matters is often said at the end.
fn write_result(out: &mut impl Write, text: &str) {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let hidden = lines.len().saturating_sub(FIRST_LINES + LAST_LINES);
    // Leaving out a single line would take as much room as showing it.
    let hidden = if hidden > 1 { hidden } else { 0 };
    let dots = glyphs::of("…", "...");
    for (place, line) in lines.iter().enumerate() {
        if hidden > 0 && place == FIRST_LINES {
            let _ = writeln!(out, "      {QUIET}{dots} {hidden} more lines {dots}{QUIET:#}");
        }
        if hidden == 0 || place < FIRST_LINES || place >= FIRST_LINES + hidden {
            let _ = writeln!(out, "      {QUIET}{}{QUIET:#}", cut(line));
        }
    }
}

/// Says how much of a diff is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffPart {
    /// All of it, for whoever decides about it.
    Whole,
    /// Its start, for whoever follows a run.
    Start,
}

/// Prints a unified diff, its signs kept, so that colour is not the only difference.
pub(crate) fn print_diff(out: &mut impl Write, diff: &str, part: DiffPart) {
    let lines: Vec<&str> = diff.lines().collect();
    let shown = if part == DiffPart::Whole { lines.len() } else { lines.len().min(DIFF_LINES) };
    for line in &lines[..shown] {
        let paint = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => QUIET,
            [b'@', ..] => PLACE,
            [b'+', ..] => GOOD,
            [b'-', ..] => BAD,
            _ => Style::new(),
        };
        let line = if part == DiffPart::Whole { visible(line) } else { cut(line) };
        // A terminal that went away is noticed where the result is printed.
        let _ = writeln!(out, "      {paint}{line}{paint:#}");
    }
    if shown < lines.len() {
        let _ = writeln!(
            out,
            "      {QUIET}{} {} more lines{QUIET:#}",
            glyphs::of("…", "..."),
            lines.len() - shown
        );
    }
}

/// Cuts a line to what fits.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS) {
        Some((end, _)) => format!("{}{}", visible(&line[..end]), glyphs::of("…", "...")),
        None => visible(line),
    }
}

/// Shows what cannot be seen: what a model or a tool wrote must not steer the terminal or hide itself.
pub(crate) fn visible(line: &str) -> String {
    Visible::line(&line.replace('\t', "    ")).to_string()
}

/// Writes a duration as people say it.
pub(crate) fn spoken(duration: Duration) -> String {
    match duration.as_millis() {
        0 => format!("{} {}", duration.as_micros(), glyphs::of("µs", "us")),
        milliseconds @ 1..1000 => format!("{milliseconds} ms"),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}
