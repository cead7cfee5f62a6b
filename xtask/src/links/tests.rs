use std::collections::BTreeMap;

use super::markdown::{anchors, links};
use super::{Target, broken};

const FILES: [(&str, &str); 4] = [
    ("README.md", "# haft\n## What it is not\n"),
    (
        "docs/architecture.md",
        "# Layers & crates\n## `ToolName`: one rule\n## Twice\n## Twice\n<a id=\"old\"></a>\n",
    ),
    ("docs/a b.md", ""),
    ("crates/haft/src/lib.rs", ""),
];

fn look_at(path: &str) -> Target {
    match FILES.iter().find(|(file, _)| *file == path) {
        Some((_, "")) => Target::Other,
        Some((_, text)) => Target::Page((*text).to_owned()),
        None if FILES.iter().any(|(file, _)| file.starts_with(&format!("{path}/"))) => Target::Other,
        None => Target::Missing,
    }
}

/// Checks one page of `docs/`.
fn check(text: &str, expected: &[&str]) {
    let pages = BTreeMap::from([("docs/page.md".to_owned(), text.to_owned())]);
    assert_eq!(broken(&pages, &look_at), expected);
}

#[test]
fn accepts_links_that_lead_somewhere() {
    check(
        "# Here\n\
         [a](architecture.md) [b](../README.md#what-it-is-not) [c](#here) [d](../crates/haft) [e](/README.md)\n\
         [f](architecture.md#toolname-one-rule \"title\") [g](architecture.md#twice-1) [h](architecture.md#old)\n\
         ![i](../crates/haft/src/lib.rs#L3) [j](a%20b.md) [k](<a b.md>) [l](architecture.md#layers--crates)\n\
         [m](https://example.org/x.md) [n](mailto:a@b.c) [o](//example.org) <a href=\"architecture.md\">p</a>\n\
         [q]: ./architecture.md\n",
        &[],
    );
}

#[test]
fn names_page_line_and_fault() {
    check(
        "[a](gone.md)\n\n[b](../../etc/passwd) [c](#nowhere) [d](architecture.md#nowhere)\n[e]: gone/\n\
         <img src=\"gone.png\">\n[![f](gone.svg)](../README.md)\n",
        &[
            "docs/page.md:1: the link `gone.md` leads to no file",
            "docs/page.md:3: the link `../../etc/passwd` leaves the repository",
            "docs/page.md:3: the link `#nowhere` leads to no heading of docs/page.md",
            "docs/page.md:3: the link `architecture.md#nowhere` leads to no heading of docs/architecture.md",
            "docs/page.md:4: the link `gone/` leads to no file",
            "docs/page.md:5: the link `gone.png` leads to no file",
            "docs/page.md:6: the link `gone.svg` leads to no file",
        ],
    );
}

#[test]
fn leaves_code_and_comments_alone() {
    check(
        "```rust\n[a](gone.md)\n~~~\n[a](gone.md)\n```\n`[b](gone.md)` ``[c](gone.md) ` ``\n\
         <!-- [d](gone.md)\n[e](gone.md) --> text\n````md\n```\n[f](gone.md)\n```\n````\n```inline``` ok\n\
         [^1]: gone.md is a footnote\n",
        &[],
    );
    check(
        "`open [a](gone.md)\n```\n```\n[b](gone.md)\n",
        &[
            "docs/page.md:1: the link `gone.md` leads to no file",
            "docs/page.md:4: the link `gone.md` leads to no file",
        ],
    );
}

#[test]
fn survives_broken_markdown() {
    for text in
        ["](", "[a](", "[a](<b", "[a](b c", "`", "```", "<!--", "[", "[]:", "[a](%", "[a](%zz)", "#", "é](é"]
    {
        let pages = BTreeMap::from([("page.md".to_owned(), text.to_owned())]);
        let _ = broken(&pages, &|_| Target::Other);
        let _ = (links(text), anchors(text));
    }
}

#[test]
fn writes_anchors_as_github_does() {
    let page = "# Hello, World!\n## a_b-c  d ##\n### [Link](x.md) and `code()`\n#Not one\n```\n# Nor this\n```\n\
                # Ünïcode — dash\n####### Seven\n";
    let found: Vec<String> = anchors(page).into_iter().collect();
    assert_eq!(found, ["a_b-c--d", "hello-world", "link-and-code", "ünïcode--dash"]);
}
