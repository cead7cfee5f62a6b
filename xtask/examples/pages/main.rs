//! Makes what the pages hold by libraries that no other command needs: `cargo xtask docs` runs it.
//!
//! `pages messages FILE…` prints the messages of sources as JSON, and `pages plots FILE` plots as SVG, by name.

#![expect(clippy::print_stdout, reason = "it is run for what it prints")]

mod collected;
mod plots;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::fs;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let made: Value = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["messages", files @ ..] => {
            let all = files.iter().map(|file| messages(file)).collect::<Result<Vec<_>, _>>()?;
            all.concat().into()
        }
        ["plots", points] => Value::Object(plots::all(points, &read(points)?)?),
        _ => bail!("say `messages FILE…` or `plots FILE`"),
    };
    println!("{made}");
    Ok(())
}

fn messages(file: &str) -> anyhow::Result<Vec<Value>> {
    let all = collected::messages(&read(file)?).with_context(|| format!("cannot read {file}"))?;
    Ok(all
        .into_iter()
        .map(|(reader, text)| json!({ "file": file, "reader": reader, "text": text }))
        .collect())
}

fn read(file: &str) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {file}"))
}
