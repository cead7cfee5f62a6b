use super::table;
use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, HrStyle, LinkStyle, Options};
use markup5ever_rcdom::Handle;

/// Writes a tree that was made small as Markdown.
pub(super) fn convert(tree: &Handle) -> String {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        hr_style: HrStyle::Dashes,
        link_style: LinkStyle::InlinedPreferAutolinks,
        ol_number_spacing: 1,
        ul_bullet_spacing: 1,
        ..Options::default()
    };
    let converter =
        HtmlToMarkdown::builder().options(options).add_handler(vec!["table"], table::handle).build();
    converter.tree_to_markdown(tree).trim().to_owned()
}
