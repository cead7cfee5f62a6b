//! Shows what another party wrote: bounded, with every hidden character written out.

use haft_core::Visible;
use std::borrow::Cow;

/// Shows a text of any number of lines, cut to so many bytes of it.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) fn shown(text: &str, most: usize) -> String {
    cut(text, most, |text| Visible::new(text).to_cow())
}

/// Shows a text on one line, cut to so many bytes of it.
pub(crate) fn line(text: &str, most: usize) -> String {
    cut(text, most, |text| Visible::line(text).to_cow())
}

/// Tells whether there is anything in a text that is not shown as it is.
#[cfg(any(feature = "client", feature = "server-oauth"))]
pub(crate) fn is_hiding(text: &str) -> bool {
    matches!(Visible::new(text).to_cow(), Cow::Owned(_))
}

fn cut(text: &str, most: usize, show: impl Fn(&str) -> Cow<'_, str>) -> String {
    if text.len() <= most {
        return show(text).into_owned();
    }
    let kept = &text[..text.floor_char_boundary(most)];
    format!("{} [and {} bytes more]", show(kept), text.len() - kept.len())
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use super::{line, shown};

    #[test]
    fn what_is_shown_is_bounded_and_visible() {
        assert_eq!(shown("a\u{202e}b\n", 10), "a\\u{202e}b\n");
        assert_eq!(line("a\nb", 10), "a\\nb");
        assert_eq!(shown("éé", 3), "é [and 2 bytes more]");
    }
}
