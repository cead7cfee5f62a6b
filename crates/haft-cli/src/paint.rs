//! The colours of the terminal, each with one meaning and none the only sign of it.

use anstyle::{AnsiColor, Style};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const ASKS: Style = AnsiColor::Yellow.on_default();
pub(crate) const NAME: Style = Style::new().bold();
pub(crate) const QUIET: Style = Style::new().dimmed();
pub(crate) const PLACE: Style = AnsiColor::Cyan.on_default();
