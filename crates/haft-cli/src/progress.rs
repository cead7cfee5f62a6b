//! What is shown on a terminal while something takes long, and is gone when it is done.

use crate::glyphs;
use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, stderr, stdout};
use std::sync::OnceLock;
use std::time::Duration;

/// How often what is shown moves.
pub(crate) const TICK: Duration = Duration::from_millis(120);

/// Whether there is a person to show anything to.
static IS_SHOWN: OnceLock<bool> = OnceLock::new();

/// Decides whether anything is shown: on a terminal, where what is printed is not for a program.
pub(crate) fn prepare(arguments: &ArgMatches) {
    let is_shown =
        stderr().is_terminal() && stdout().is_terminal() && !glyphs::is_dumb() && !is_json(arguments);
    let _ = IS_SHOWN.set(is_shown);
}

fn is_json(arguments: &ArgMatches) -> bool {
    let here = arguments.try_get_one::<bool>("json").ok().flatten().is_some_and(|json| *json);
    here || arguments.subcommand().is_some_and(|(_, below)| is_json(below))
}

/// Shows that something is done, until it is dropped.
#[must_use]
pub(crate) struct Working(Option<ProgressBar>);

impl Working {
    pub(crate) fn on(what: impl Into<String>) -> Self {
        if !IS_SHOWN.get().copied().unwrap_or(false) {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(style("{spinner} {wide_msg} {elapsed}"));
        bar.set_message(what.into());
        bar.enable_steady_tick(TICK);
        Self(Some(bar))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Has a line of its own, with a sign that moves.
pub(crate) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    style.tick_chars(glyphs::of("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ", "-\\|/ "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory as _;

    #[test]
    fn output_for_programs_is_known_by_its_flag_wherever_that_is() {
        let is = |arguments: &[&str]| is_json(&Arguments::command().get_matches_from(arguments));
        assert!(is(&["haft", "mcp", "tools", "--json"]));
        assert!(is(&["haft", "tools", "--json"]));
        assert!(!is(&["haft", "mcp", "tools"]));
        assert!(!is(&["haft", "serve"]));
    }
}
