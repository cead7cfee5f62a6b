use super::REDACTED;
use super::secrets::Secrets;
use crate::rewrite;
use haft_core::{Content, EventKind, Repair, ToolOutput, ToolReply};

pub(super) fn to_output(output: &mut ToolOutput, secrets: &Secrets) {
    let is_text = |part: &Content| rewrite::words(part).is_some();
    for texts in output.content.chunk_by_mut(|one, next| is_text(one) && is_text(next)) {
        if texts.len() > 1 {
            across(texts, secrets);
        }
    }
    rewrite::shown(output, secrets);
    rewrite::value(&mut output.details, secrets);
}

pub(super) fn to_reply(reply: &mut ToolReply, secrets: &Secrets) {
    to_output(&mut reply.output, secrets);
    to_repairs(&mut reply.repairs, secrets);
}

pub(super) fn to_repairs(repairs: &mut [Repair], secrets: &Secrets) {
    for repair in repairs {
        rewrite::text(&mut repair.pointer, secrets);
        rewrite::text(&mut repair.note, secrets);
        rewrite::value(&mut repair.from, secrets);
        repair.to.iter_mut().for_each(|to| rewrite::value(to, secrets));
    }
}

pub(super) fn to_event(kind: &mut EventKind, secrets: &Secrets) {
    match kind {
        EventKind::TextDelta { text } | EventKind::ReasoningDelta { text } => rewrite::text(text, secrets),
        EventKind::Started { name, input } => {
            rewrite::text(name, secrets);
            rewrite::value(input, secrets);
        }
        EventKind::Decided { reason, .. }
        | EventKind::Retried { reason, .. }
        | EventKind::ModelRetried { reason, .. }
        | EventKind::TurnDiscarded { reason, .. } => {
            rewrite::text(reason, secrets);
        }
        EventKind::ApprovalRequested { accesses, preview } => {
            for told in accesses.iter_mut().chain([preview]) {
                rewrite::text(told, secrets);
            }
        }
        EventKind::Updated { output } => {
            to_output(output, secrets);
            hold_back(output, secrets);
        }
        EventKind::Progressed { progress } => {
            progress.message.iter_mut().for_each(|message| rewrite::text(message, secrets));
        }
        EventKind::AbandonedEnded { name, .. } => rewrite::text(name, secrets),
        EventKind::SourceFailed { source, reason } => {
            rewrite::text(source, secrets);
            rewrite::text(reason, secrets);
        }
        EventKind::Finished { reply } => {
            rewrite::text(&mut reply.name, secrets);
            to_reply(reply, secrets);
        }
        EventKind::CallDelta { name, arguments, .. } => {
            rewrite::text(name, secrets);
            rewrite::text(arguments, secrets);
        }
        // These say nothing in words, but for names of tools, which a placeholder could not be.
        EventKind::TurnStarted { .. }
        | EventKind::TurnFinished { .. }
        | EventKind::BudgetSpent { .. }
        | EventKind::Compacted { .. }
        | EventKind::WaitsBelow { .. }
        | EventKind::Paused
        | EventKind::Unpaused
        | EventKind::ToolsChanged { .. }
        | EventKind::ToolsOverBudget { .. } => {}
        other => to_any(other, secrets),
    }
}

/// Rewrites an event of a kind that is not known here, by way of how it is written.
fn to_any(kind: &mut EventKind, secrets: &Secrets) {
    if let Ok(mut written) = serde_json::to_value(&*kind) {
        rewrite::value(&mut written, secrets);
        if let Ok(rewritten) = serde_json::from_value(written) {
            *kind = rewritten;
        }
    }
}

/// Takes from the end of an output that goes on what could be the beginning of a secret.
fn hold_back(output: &mut ToolOutput, secrets: &Secrets) {
    let texts = output.content.iter().rev().map_while(rewrite::words).count();
    let texts = output.content.len() - texts..;
    let whole: String = output.content[texts.clone()].iter().filter_map(rewrite::words).collect();
    let mut left = secrets.unfinished(&whole, 0);
    for text in output.content[texts].iter_mut().filter_map(rewrite::words_mut) {
        text.truncate(left);
        left = left.saturating_sub(text.len());
    }
}

/// Replaces the secrets of texts that follow each other as if they were one; each is put where it begins.
fn across(parts: &mut [Content], secrets: &Secrets) {
    let whole: String = parts.iter().filter_map(rewrite::words).collect();
    let mut all = secrets.find_all(&whole).peekable();
    if all.peek().is_none() {
        return;
    }
    let mut start = 0;
    // The end of the last secret that was found, which can be in a later part than its beginning.
    let mut done = 0;
    for part in parts {
        let Some(text) = rewrite::words_mut(part) else { continue };
        let end = start + text.len();
        let mut redacted = String::new();
        while let Some(found) = all.next_if(|found| found.start < end) {
            redacted.push_str(&whole[done.max(start)..found.start]);
            redacted.push_str(REDACTED);
            done = found.end;
        }
        redacted.push_str(&whole[done.clamp(start, end)..end]);
        *text = redacted;
        start = end;
    }
}
