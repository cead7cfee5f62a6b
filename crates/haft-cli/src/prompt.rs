//! What a person is shown and asked at the terminal.

#[cfg(test)]
mod tests;

use crate::outcome::{access_line, by};
use crate::paint::{ASKS, NAME, QUIET};
use crate::timeline::{DiffPart, print_diff, visible};
use crate::typed::Lines;
use haft::tools_core::{
    Approval, AskedQuestion, Explanation, GrantTerm, PendingCall, Preview, QuestionKind, QuestionOutcome,
    Wants,
};
use serde_json::Value;
use std::io::Write;

/// How often a question is put again when the answer does not fit.
const TRIES: usize = 5;

/// Reads what a person says, and shows them what they need for it.
pub(crate) struct Prompt<'a> {
    pub(crate) input: &'a mut dyn Lines,
    pub(crate) out: &'a mut dyn Write,
}

/// Says what a person said about a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    Answer(Approval),
    /// They want to change its input first.
    Edit,
}

impl Prompt<'_> {
    /// Shows a call as it will run, and asks until there is an answer; the end of the input leaves it for later.
    pub(crate) fn call(&mut self, pending: &PendingCall, explained: &[Explanation]) -> Said {
        show(pending, Reasons::Beside, self.out);
        let can_be_remembered = pending.can_be_remembered();
        let rules: Vec<&str> = pending.unmet.iter().filter_map(|unmet| unmet.grant.as_deref()).collect();
        if can_be_remembered {
            let rules = rules.iter().map(|rule| visible(rule)).collect::<Vec<_>>().join("`, `");
            let _ = writeln!(
                self.out,
                "  {QUIET}`always` and `never` would remember, for this directory: `{rules}`{QUIET:#}"
            );
        }
        loop {
            let always = if can_be_remembered { "always here / " } else { "" };
            let never = if rules.is_empty() { "" } else { "never / " };
            let what = match pending.wants {
                Wants::Authentication { .. } => "Done?",
                _ => "Run it?",
            };
            let ask = format!("  {what} yes / {always}no [why] / {never}edit / explain / later: ");
            let Some(line) = self.line(&ask) else { return Said::Answer(Approval::Later) };
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
            let reason = rest.trim().to_owned();
            let term = GrantTerm::Workspace;
            return Said::Answer(match word.to_lowercase().as_str() {
                "y" | "yes" => Approval::Approve,
                "a" | "always" if can_be_remembered => Approval::ApproveFor { term },
                "n" | "no" => Approval::Deny { reason },
                "never" if !rules.is_empty() => Approval::Never { term, reason },
                "e" | "edit" => return Said::Edit,
                "l" | "later" => Approval::Later,
                "x" | "explain" => {
                    explain(explained, self.out);
                    continue;
                }
                "" => continue,
                _ => {
                    let _ = writeln!(self.out, "  `{}` is not among the answers", visible(word));
                    continue;
                }
            });
        }
    }

    /// Asks for a yes or a no until there is one; the end of the input is a no.
    pub(crate) fn confirm(&mut self, question: &str) -> bool {
        let ask = format!("{} yes / no: ", visible(question));
        for _ in 0..TRIES {
            match self.line(&ask).as_deref().map(str::to_lowercase).as_deref() {
                Some("y" | "yes") => return true,
                None | Some("n" | "no") => return false,
                Some(_) => {}
            }
        }
        false
    }

    /// Puts a question of a tool.
    pub(crate) fn question(&mut self, asked: &AskedQuestion) -> QuestionOutcome {
        let question = &asked.question;
        let _ = writeln!(self.out, "\n{ASKS}?{ASKS:#} {NAME}{}{NAME:#} asks:", visible(&asked.tool));
        for line in question.text.lines() {
            let _ = writeln!(self.out, "  {}", visible(line));
        }
        let ask = match &question.kind {
            QuestionKind::Choice { options } => {
                for (place, option) in options.iter().enumerate() {
                    let _ = writeln!(self.out, "    {} {}", place + 1, visible(option));
                }
                "  number or text (leave it empty to decline): "
            }
            QuestionKind::Confirm => "  yes / no (leave it empty to decline): ",
            QuestionKind::Form { schema } => {
                let _ = writeln!(self.out, "  {QUIET}{}{QUIET:#}", visible(&schema.as_value().to_string()));
                "  a JSON object that fits this (leave it empty to decline): "
            }
            _ => "  (leave it empty to decline): ",
        };
        for _ in 0..TRIES {
            let Some(line) = self.line(ask) else { return QuestionOutcome::Nobody };
            if line.is_empty() {
                return QuestionOutcome::Declined;
            }
            let checked = read(&question.kind, &line).and_then(|answer| match question.check(&answer) {
                Ok(()) => Ok(QuestionOutcome::Answered { answer }),
                Err(unfit) => Err(unfit.to_string()),
            });
            match checked {
                Ok(answered) => return answered,
                Err(why) => {
                    let _ = writeln!(self.out, "  {}", visible(&why));
                }
            }
        }
        QuestionOutcome::Declined
    }

    fn line(&mut self, ask: &str) -> Option<String> {
        let _ = write!(self.out, "{ask}");
        let _ = self.out.flush();
        let line = self.input.next_line()?;
        if !line.ends_with('\n') {
            // Nothing has ended the line of the question, and what is said next begins one.
            let _ = writeln!(self.out);
        }
        (!line.is_empty()).then(|| line.trim().to_owned())
    }
}

/// Reads an answer of a kind.
fn read(kind: &QuestionKind, line: &str) -> Result<Value, String> {
    match kind {
        QuestionKind::Confirm => match line.to_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(true.into()),
            "n" | "no" | "false" => Ok(false.into()),
            _ => Err("answer with yes or no".to_owned()),
        },
        QuestionKind::Choice { options } if !options.iter().any(|option| option == line) => {
            let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            Ok(number
                .and_then(|place| options.get(place))
                .map_or_else(|| line.into(), |option| option.as_str().into()))
        }
        QuestionKind::Form { .. } => {
            serde_json::from_str(line).map_err(|error| format!("this is not JSON: {error}"))
        }
        _ => Ok(line.into()),
    }
}

/// Says where the reasons stand why accesses are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reasons {
    /// Beside each access.
    Beside,
    /// Elsewhere.
    Apart,
}

/// Shows what the call would do, whole and as it will run.
pub(crate) fn show(pending: &PendingCall, reasons: Reasons, mut out: &mut dyn Write) {
    let by = by(pending);
    let _ = writeln!(out, "\n{ASKS}?{ASKS:#} {NAME}{}{NAME:#}{by} wants to:", visible(&pending.call.name));
    for access in &pending.unmet {
        let _ = writeln!(out, "    {}", access_line(access));
        if reasons == Reasons::Beside {
            let _ = writeln!(out, "      {QUIET}asked because: {}{QUIET:#}", visible(&access.reason));
        }
    }
    if let Some(again) = &pending.again {
        let _ = writeln!(out, "  {QUIET}asked again: {}{QUIET:#}", visible(again));
    }
    for repair in &pending.repairs {
        let place = if repair.pointer.is_empty() { "the arguments" } else { &repair.pointer };
        let _ = writeln!(out, "  {QUIET}changed {}: {}{QUIET:#}", visible(place), visible(&repair.note));
    }
    if let Wants::Authentication { url } = &pending.wants {
        let _ = writeln!(out, "  first log in at {}", visible(url));
    }
    match &pending.preview {
        Preview::Arguments => {
            let _ = writeln!(out, "  {QUIET}{}{QUIET:#}", visible(&pending.call.input.to_string()));
        }
        Preview::Diff(diff) => print_diff(&mut out, diff, DiffPart::Whole),
        Preview::Command(command) => {
            for line in command.lines() {
                let _ = writeln!(out, "  {QUIET}${QUIET:#} {}", visible(line));
            }
        }
        preview => {
            for line in preview.as_text().lines() {
                let _ = writeln!(out, "  {}", visible(line));
            }
        }
    }
}

/// Says of every access how it is decided, why, and what would change it.
fn explain(explained: &[Explanation], out: &mut dyn Write) {
    for Explanation { access, decision, reason, change, .. } in explained {
        let access = access.as_deref().unwrap_or("the call");
        let _ = writeln!(out, "    {}: {decision}, {}", visible(access), visible(reason));
        if let Some(change) = change {
            let _ = writeln!(out, "      {QUIET}to change it: {}{QUIET:#}", visible(change));
        }
    }
}
