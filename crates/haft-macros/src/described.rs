use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Headings under which rustdoc has what is for programmers.
const FOR_PROGRAMMERS: [&str; 6] = ["errors", "panics", "safety", "example", "examples", "cancel safety"];

/// Reads documentation as an expression of a `&'static str`; `None` if nothing is said.
pub(crate) fn description(attributes: &[Attribute]) -> Option<TokenStream> {
    let pieces: Vec<&Expr> = attributes.iter().filter_map(documentation).collect();
    let literal: Option<Vec<String>> = pieces.iter().map(|piece| text_of(piece)).collect();
    let place = Span::mixed_site();
    match literal {
        Some(texts) => {
            let text = for_models(&texts.join("\n"));
            (!text.is_empty()).then(|| quote_spanned!(place=> #text))
        }
        // What another macro writes, such as `include_str!`, is known to the compiler alone.
        None => Some(quote_spanned!(place=> ::core::concat!(#(#pieces, "\n"),*).trim_ascii())),
    }
}

/// Tells whether the attribute is documentation, and not a setting of rustdoc.
pub(crate) fn is_documentation(attribute: &Attribute) -> bool {
    documentation(attribute).is_some()
}

fn documentation(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}

fn text_of(piece: &Expr) -> Option<String> {
    match piece {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Takes away the margin that comments are written with, and what is for programmers.
fn for_models(documentation: &str) -> String {
    let is_told = |line: &&str| {
        let heading = line.trim().strip_prefix("# ").map(str::to_ascii_lowercase);
        !heading.is_some_and(|heading| FOR_PROGRAMMERS.contains(&heading.trim()))
    };
    let lines: Vec<&str> = documentation.lines().map(str::trim_end).take_while(is_told).collect();
    let margin = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let narrowest = lines.iter().filter(|line| !line.is_empty()).map(margin).min().unwrap_or_default();
    let lines: Vec<&str> = lines.iter().map(|line| line.get(narrowest..).unwrap_or_default()).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::for_models;

    fn check(documentation: &str, expected: &str) {
        assert_eq!(for_models(documentation), expected);
    }

    #[test]
    fn the_margin_of_comments_is_left_out_and_the_rest_is_kept() {
        check(
            " Counts words.\n\n - of a \"text\"\n   of lines ",
            "Counts words.\n\n- of a \"text\"\n  of lines",
        );
    }

    #[test]
    fn what_is_for_programmers_ends_the_description() {
        check(
            " Counts words.\n\n # Limits\n\n Ten.\n\n # Errors\n\n Never.",
            "Counts words.\n\n# Limits\n\nTen.",
        );
        check(" # Cancel safety\n\n Safe.", "");
    }

    #[test]
    fn a_description_of_blanks_says_nothing() {
        check("  \n ", "");
    }
}
