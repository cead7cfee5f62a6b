//! Shows what others wrote: bounded, with every hidden character written out.

use haft_core::Visible;
use std::borrow::Cow;

/// Shows a text of any number of lines, cut to so many bytes of it.
pub(super) fn shown(text: &str, most: usize) -> String {
    cut(text, most, |text| Visible::new(text).to_cow())
}

/// Shows a text on one line, cut to so many bytes of it.
pub(super) fn shown_line(text: &str, most: usize) -> String {
    cut(text, most, |text| Visible::line(text).to_cow())
}

fn cut(text: &str, most: usize, show: impl Fn(&str) -> Cow<'_, str>) -> String {
    if text.len() <= most {
        return show(text).into_owned();
    }
    let kept = &text[..text.floor_char_boundary(most)];
    format!("{} [and {} bytes more]", show(kept), text.len() - kept.len())
}
