use crate::policy_setup::PolicyInForce;
use haft::core::{Decision, Exposure};
use haft::policy::LoadedPolicy;
use haft::tools_core::{Mode, listed};
use haft::{Accesses, ToolRegistry};
use std::fmt::Write as _;

/// The most tools that are named as denied.
const MOST_NAMED: usize = 20;

/// Is what clients are told whose calls are made by workers.
pub(super) const OF_WORKERS: &str = "A policy decides about each call of these tools, where it is made. What no rule allows is asked about: \
                                     the user may be shown a form, and a call that is refused says how it can be allowed.";

/// Says to clients and their models what the policy lets them do.
pub(super) fn instructions(policy: &PolicyInForce, tools: &ToolRegistry) -> String {
    let LoadedPolicy { policy: rules, profile, files, mode, .. } = &policy.loaded;
    let mut text = String::from("A policy decides about each call of these tools");
    if let Some(profile) = profile {
        let about = profile.text().lines().next().unwrap_or_default();
        let about = about.trim_start_matches(['#', ' ']).trim_end_matches('.');
        let mut about = about.chars();
        let about: String = about.next().into_iter().flat_map(char::to_lowercase).chain(about).collect();
        let _ = write!(text, ": the profile `{profile}` {about}");
        if !files.is_empty() {
            text += ", and the user's own rules change that";
        }
    } else if !files.is_empty() {
        text += " by the user's own rules";
    }
    text += ".";
    text += match mode {
        Mode::Plan => " Nothing is written, run or connected to now: the mode is `plan`.",
        Mode::AcceptEdits => {
            " Edits of files in the working directory are accepted: the mode is `accept_edits`."
        }
        _ => "",
    };
    text += match mode {
        Mode::DenyUnknown => " What no rule allows is denied.",
        _ => {
            " What no rule allows is asked about: the user may be shown a form, and a call that is refused says how it can be \
               allowed."
        }
    };
    let nothing = Accesses::none();
    let denied = tools.iter().filter(|spec| spec.exposure() != Exposure::Hidden);
    let denied = denied.filter(|spec| rules.decide(spec, &nothing).decision() == Decision::Deny);
    let names: Vec<&str> = denied.map(|spec| spec.name().as_str()).take(MOST_NAMED + 1).collect();
    if !names.is_empty() {
        let others = if names.len() > MOST_NAMED { " and more" } else { "" };
        let shown = listed(names.into_iter().take(MOST_NAMED), "and");
        // Writing to a string cannot fail.
        let _ = write!(text, " Denied altogether: {shown}{others}.");
    }
    text
}
