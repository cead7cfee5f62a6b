//! Edits derived from the sources of the crates in Cargo's registry, and made wrong: how many of them are made, refused and
//! made wrongly. Fails if one is made wrongly, and if there are none.
//!
//! `cargo xtask bench edit -- [SOURCES] [SEED]` takes so many files (1,000 by default).

#![cfg(unix)]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark speaks on the terminal")]

#[path = "../tests/it/mutation.rs"]
mod mutation;

use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use mutation::{ASKS, Ask, Case, MUTATIONS, Mutation, Tally};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// How many wrong edits are shown.
const SHOWN: u64 = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut numbers = env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (wanted, seed) = (numbers.next().unwrap_or(1_000), numbers.next().unwrap_or(1));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut sources = Vec::new();
    for root in registries() {
        collect(&root, &mut sources);
    }
    sources.sort();
    random.shuffle(&mut sources);
    sources.truncate(usize::try_from(wanted).unwrap());
    if sources.is_empty() {
        println!("there are no sources of crates in {}; run `cargo fetch`", home().display());
        return ExitCode::FAILURE;
    }
    let tree = Tree::new().file("a", "");
    let registry = ToolRegistry::of(haft_tool_fs::tools(&tree.workdir())).unwrap();
    let mut kinds: Vec<(Kind, Tally)> = kinds().map(|kind| (kind, Tally::default())).collect();
    let started = Instant::now();
    for path in &sources {
        let Ok(source) = fs::read_to_string(path) else { continue };
        for (kind, tally) in &mut kinds {
            let mutation = kind.mutation(&mut random);
            // Not every choice of lines comes to an edit.
            let derived = (0..8).find_map(|_| Case::derive(&source, mutation, kind.ask(), &mut random));
            let Some(case) = derived else { continue };
            fs::write(tree.path().join("a"), &case.file).unwrap();
            let reply = call(&registry, "edit_file", case.input("a")).await;
            let after = tree.read_bytes("a");
            if !case.judge(&after, reply.status.is_ok(), tally) && tally.wrong <= SHOWN {
                println!("WRONG in {}: {case:?}\n{}\n", path.display(), reply.output.to_text());
            }
        }
    }
    println!("{} sources in {:.1} s, seed {seed}", sources.len(), started.elapsed().as_secs_f64());
    for (kind, tally) in &kinds {
        let name = match kind {
            Kind::Once(mutation) => format!("{mutation:?}"),
            Kind::Asked(ask) => format!("{ask:?}, any of them"),
        };
        println!("{name:<24}{tally}");
    }
    let is_wrong = kinds.iter().any(|(_, tally)| tally.wrong > 0);
    let is_empty = kinds.iter().any(|(_, tally)| tally.applied + tally.refused == 0);
    if is_empty {
        println!("of some kind no edit was derived; take more sources");
    }
    ExitCode::from(u8::from(is_wrong || is_empty))
}

/// What is counted together.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// One edit of one place, mutated so.
    Once(Mutation),
    /// Places asked for so, mutated in any way.
    Asked(Ask),
}

impl Kind {
    fn ask(self) -> Ask {
        match self {
            Self::Once(_) => Ask::One,
            Self::Asked(ask) => ask,
        }
    }

    fn mutation(self, random: &mut fastrand::Rng) -> Mutation {
        match self {
            Self::Once(mutation) => mutation,
            Self::Asked(_) => {
                let possible = MUTATIONS.into_iter().filter(|mutation| mutation.leaves_places());
                random.choice(possible.collect::<Vec<_>>()).unwrap_or(Mutation::Nothing)
            }
        }
    }
}

fn kinds() -> impl Iterator<Item = Kind> {
    let asked = ASKS.into_iter().filter(|ask| *ask != Ask::One).map(Kind::Asked);
    MUTATIONS.into_iter().map(Kind::Once).chain(asked)
}

/// Where Cargo keeps the sources of crates.
fn registries() -> Vec<PathBuf> {
    let indexes = fs::read_dir(home().join("registry/src")).into_iter().flatten().flatten();
    indexes.map(|index| index.path()).collect()
}

/// Where Cargo keeps what it has.
fn home() -> PathBuf {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"))).unwrap_or_default()
}

fn collect(directory: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| {
            ["rs", "c", "h", "md", "toml", "py"].iter().any(|known| extension == *known)
        }) && entry.metadata().is_ok_and(|metadata| metadata.len() < 200_000)
        {
            sources.push(path);
        }
    }
}
