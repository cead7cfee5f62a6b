//! Makes what the pages hold by libraries that no other command needs: `cargo xtask docs` runs it.
//!
//! `pages messages FILE…` prints the messages of the files of a crate as JSON, and `pages plots FILE` plots as SVG, by name.

#![expect(clippy::print_stdout, reason = "it is run for what it prints")]

mod collected;
mod page_text;
mod plots;
mod reader;
mod said;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let made: Value = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["messages", files @ ..] => messages(files)?.into(),
        ["plots", points] => Value::Object(plots::all(points, &read(points)?)?),
        _ => bail!("say `messages FILE…` or `plots FILE`"),
    };
    println!("{made}");
    Ok(())
}

fn messages(files: &[&str]) -> anyhow::Result<Vec<Value>> {
    let mut of_tests = Vec::new();
    for file in files.iter().filter(|file| Path::new(file).extension().is_some_and(|kind| kind == "rs")) {
        let modules =
            collected::modules_of_tests(&read(file)?).with_context(|| format!("cannot read {file}"))?;
        of_tests.extend(modules.iter().map(|module| path_of(file, module)));
    }
    let is_of_tests = |file: &str| {
        let path = file.trim_end_matches(".rs");
        of_tests.iter().any(|module| {
            path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let mut all = Vec::new();
    for file in files.iter().filter(|file| !is_of_tests(file)) {
        let text = read(file)?;
        let of_page =
            |texts: Vec<String>| texts.into_iter().map(|text| (reader::PERSON, text)).collect::<Vec<_>>();
        let told = match file.rsplit_once('.') {
            Some((_, "html")) => of_page(page_text::of_html(&text)),
            Some((_, "js")) => of_page(page_text::of_script(&text)),
            _ => collected::messages(file, &text).with_context(|| format!("cannot read {file}"))?,
        };
        all.extend(
            told.into_iter().map(|(reader, text)| json!({ "file": file, "reader": reader, "text": text })),
        );
    }
    Ok(all)
}

/// Where a module stands that a file names, without the end of its name.
fn path_of(file: &str, module: &str) -> String {
    let path = file.trim_end_matches(".rs");
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let below = if ["lib", "main", "mod"].contains(&name) { directory } else { path };
    format!("{below}/{module}")
}

fn read(file: &str) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {file}"))
}
