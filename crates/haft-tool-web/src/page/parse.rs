//! Reads HTML into a tree.
//!
//! What a page can cost is bounded three ways. Attributes that nothing is made of never get into the tree, so that no more than
//! three elements of one name are opened anew in each paragraph (the "Noah's Ark clause" of WHATWG HTML, section 13.2.4.3). A tree
//! has only so many nodes. And where a page makes each of its elements cost as much as all that came before, the time that it may
//! take is looked at after every kilobyte.

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use markup5ever_rcdom::{Handle, RcDom};
use std::cell::Cell;
use std::time::Instant;

/// How many bytes are read between two looks at the time.
const PIECE: usize = 1 << 10;

/// The most tokens that a page may have: tags, and texts between them.
const MOST_TOKENS: usize = 400_000;

/// Is a page as a tree.
pub(super) struct Parsed {
    pub(super) document: Handle,
    /// Whether it goes on after what was read.
    pub(super) is_cut: bool,
}

/// Reads a page until it ends, is too much, or the time is over.
pub(super) fn parse(html: &str, until: Instant) -> Parsed {
    // Without scripts, what stands in their place is read.
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let sink = Sparse { tree: TreeBuilder::new(RcDom::default(), options), tokens: Cell::new(0) };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let mut rest = html;
    let input = BufferQueue::default();
    while !rest.is_empty() && tokenizer.sink.tokens.get() < MOST_TOKENS && Instant::now() < until {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE));
        rest = after;
        input.push_back(StrTendril::from(piece));
        // It stops at the end of each script, to have it run.
        while matches!(tokenizer.feed(&input), html5ever::TokenizerResult::Script(_)) {}
    }
    tokenizer.end();
    Parsed { document: tokenizer.sink.tree.sink.document.clone(), is_cut: !rest.is_empty() }
}

/// Builds a tree of what is of use.
struct Sparse {
    tree: TreeBuilder<Handle, RcDom>,
    tokens: Cell<usize>,
}

impl TokenSink for Sparse {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        self.tokens.set(self.tokens.get() + 1);
        let token = match token {
            Token::TagToken(mut tag) => {
                if &*tag.name == "selectedcontent" {
                    return TokenSinkResult::Continue;
                }
                keep_useful(&mut tag);
                Token::TagToken(tag)
            }
            Token::CommentToken(_) | Token::ParseError(_) => return TokenSinkResult::Continue,
            other => other,
        };
        self.tree.process_token(token, line)
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// The languages that code can be marked with; not any, so that they open no more elements anew than there are languages.
const LANGUAGES: &[&str] = &[
    "bash",
    "c",
    "cpp",
    "csharp",
    "css",
    "diff",
    "elixir",
    "go",
    "haskell",
    "html",
    "java",
    "javascript",
    "js",
    "json",
    "jsx",
    "kotlin",
    "lua",
    "markdown",
    "nix",
    "ocaml",
    "perl",
    "php",
    "python",
    "ruby",
    "rust",
    "scala",
    "sh",
    "shell",
    "sql",
    "swift",
    "toml",
    "ts",
    "tsx",
    "typescript",
    "xml",
    "yaml",
    "zig",
];

fn is_language(class: &str) -> bool {
    class.strip_prefix("language-").is_some_and(|language| LANGUAGES.binary_search(&language).is_ok())
}

/// Takes out the attributes that nothing is made of.
fn keep_useful(tag: &mut Tag) {
    let name = &*tag.name;
    // One value, so that it makes no more than two kinds of each element.
    for attribute in tag.attrs.iter_mut().filter(|attribute| &*attribute.name.local == "hidden") {
        attribute.value = StrTendril::new();
    }
    if name == "code" {
        for attribute in tag.attrs.iter_mut().filter(|attribute| &*attribute.name.local == "class") {
            let language = attribute.value.split(' ').find(|class| is_language(class)).unwrap_or_default();
            attribute.value = StrTendril::from(language);
        }
    }
    let is_formatting = matches!(
        name,
        "b" | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    );
    tag.attrs.retain(|attribute| match &*attribute.name.local {
        "hidden" => true,
        "href" => matches!(name, "a" | "base"),
        "src" | "alt" => name == "img",
        "class" => name == "pre" || name == "code" && !attribute.value.is_empty(),
        "start" => name == "ol",
        "role" => !is_formatting && name != "a",
        _ => false,
    });
}
