use crate::fixture::{run, shown};
use expect_test::expect;
use haft_testkit::Tree;
use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, dictionary};
use serde_json::json;

#[test]
fn a_notebook_is_read_by_its_cells() {
    let notebook = json!({
        "cells": [
            { "cell_type": "markdown", "source": ["# Title\n", "Words."] },
            {
                "cell_type": "code",
                "source": "1 + 1\nplot()",
                "outputs": [
                    { "output_type": "execute_result", "data": { "text/plain": ["2"] } },
                    { "output_type": "display_data", "data": { "image/png": "iVBO" } },
                    { "output_type": "error", "ename": "ValueError", "evalue": "no" }
                ]
            },
            { "cell_type": "code", "source": [], "outputs": [] }
        ],
        "nbformat": 4
    });
    let tree = Tree::new().file("a.ipynb", &notebook.to_string()).file("broken.ipynb", "{\"cells\": ");
    let read = |input| shown(&run(&tree, "read_file", input));
    expect![[r"
        ok
        a.ipynb: 364 bytes, a notebook of 3 cells
        --- cell 1
        (markdown)
        # Title
        Words.
        --- cell 2
        (code)
        1 + 1
        plot()
        (output)
        2
        [image/png]
        ValueError: no
        [cells 1–2 of 3; continue with offset 3]
    "]]
    .assert_eq(&read(json!({ "path": "a.ipynb", "limit": 2 })));
    expect![[r"
        ok
        a.ipynb: 364 bytes, a notebook of 3 cells
        [there is no cell 4; use an offset from 1 to 3]
    "]]
    .assert_eq(&read(json!({ "path": "a.ipynb", "offset": 4 })));
    expect![[r#"
        ok
        broken.ipynb: 1 line, 10 bytes, no final newline
        1	{"cells": 
    "#]]
    .assert_eq(&read(json!({ "path": "broken.ipynb" })));
}

/// Makes a document with a line on each page.
fn pdf(lines: &[&str]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages = document.new_object_id();
    let font =
        document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let mut kids: Vec<Object> = Vec::new();
    for line in lines {
        let content = Content {
            operations: vec![
                Operation::new("BT", vec![]),
                Operation::new("Tf", vec!["F1".into(), 12.into()]),
                Operation::new("Tj", vec![Object::string_literal(*line)]),
                Operation::new("ET", vec![]),
            ],
        };
        let content = document.add_object(Stream::new(dictionary! {}, content.encode().unwrap()));
        let page = dictionary! { "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => resources };
        kids.push(document.add_object(page).into());
    }
    let count = i64::try_from(kids.len()).unwrap();
    document
        .objects
        .insert(pages, dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count }.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_pdf_document_is_read_by_its_pages() {
    let tree = Tree::new().bytes("a.pdf", &pdf(&["First page.", "Second page.", "Third page."]));
    let text = shown(&run(&tree, "read_file", json!({ "path": "a.pdf", "offset": 2, "limit": 1 })));
    assert!(
        text.starts_with("ok\na.pdf: ")
            && text.contains(", a PDF document of 3 pages\n--- page 2\nSecond page.\n"),
        "{text}"
    );
    assert!(text.ends_with("[page 2 of 3; continue with offset 3]\n"), "{text}");
}

#[test]
fn a_broken_pdf_document_is_described() {
    let whole = pdf(&["First page."]);
    for length in (0..whole.len()).step_by(7) {
        let tree = Tree::new().bytes("a.pdf", &whole[..length]);
        assert!(run(&tree, "read_file", json!({ "path": "a.pdf" })).status.is_ok(), "{length}");
    }
}
