//! `cargo xtask bench`: the benchmarks by name, in one table.

use std::fmt::Write as _;

use crate::step::{Outcome, StepResult};
use crate::workspace::Workspace;

/// One benchmark.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    package: &'static str,
    target: &'static str,
    /// The features of the package that it needs, divided by commas.
    features: &'static str,
    about: &'static str,
}

/// Every benchmark there is.
pub(crate) const BENCHES: &[Bench] = &[
    Bench {
        name: "agent",
        package: "haft-agent",
        target: "agent",
        features: "",
        about: "a turn of a run beyond its model and tools, at its beginning and after a thousand",
    },
    Bench {
        name: "analysis",
        package: "haft-tool-shell",
        target: "analysis",
        features: "",
        about: "a script read before it runs, and its commands looked up among the patterns of rules",
    },
    Bench {
        name: "edit",
        package: "haft-tool-fs",
        target: "edit",
        features: "",
        about: "edits derived from the sources of many crates and made wrong: made, refused, made wrongly",
    },
    Bench {
        name: "executor",
        package: "haft-tools-core",
        target: "executor",
        features: "",
        about: "one call through the whole pipeline, calls that overlap, and calls that queue",
    },
    Bench {
        name: "files",
        package: "haft",
        target: "files",
        features: "changes",
        about: "slices of a large file and an edit of one, against what reading and writing it costs",
    },
    Bench {
        name: "host_patterns",
        package: "haft-http",
        target: "host_patterns",
        features: "",
        about: "a host and port looked up among the patterns of rules",
    },
    Bench {
        name: "mcp",
        package: "haft-mcp",
        target: "mcp",
        features: "measured",
        about: "calls of an MCP server over standard streams, against the client of rmcp",
    },
    Bench {
        name: "openapi",
        package: "haft-openapi",
        target: "openapi",
        features: "",
        about: "reading a document beside reading its JSON, and making requests",
    },
    Bench {
        name: "path_patterns",
        package: "haft-tool-fs",
        target: "path_patterns",
        features: "",
        about: "a file looked up among the patterns of rules",
    },
    Bench {
        name: "policy",
        package: "haft",
        target: "policy",
        features: "policy,tools",
        about: "a call decided against many rules of all kinds",
    },
    Bench {
        name: "sandbox",
        package: "haft-tool-shell",
        target: "sandbox",
        features: "sandbox",
        about: "a script that does nothing, within the bounds of the kernel and without",
    },
    Bench {
        name: "scaling",
        package: "haft",
        target: "scaling",
        features: "tools",
        about: "what grows with tools, files, calls and output: the points of docs/performance/scaling.csv",
    },
    Bench {
        name: "search",
        package: "haft-tool-search",
        target: "search",
        features: "code",
        about: "the sources of many crates searched and listed, against ripgrep, cancelled searches, half a million files in a second, and outlines",
    },
    Bench {
        name: "serve",
        package: "haft-mcp",
        target: "serve",
        features: "server-http",
        about: "calls, lists and listeners that are served, against a server of rmcp",
    },
    Bench {
        name: "shell",
        package: "haft-tool-shell",
        target: "shell",
        features: "sandbox",
        about: "a script and a program that do nothing, against the system, and a large output that is kept",
    },
    Bench {
        name: "store",
        package: "haft-store",
        target: "store",
        features: "",
        about: "opening the database, a grant look-up, a journal append, and a claim",
    },
];

/// Lists the benchmarks, one per line.
pub(crate) fn list() -> String {
    let mut listing = String::new();
    for bench in BENCHES {
        // Writing to a string cannot fail.
        let _ = writeln!(listing, "{:<14} {} ({})", bench.name, bench.about, bench.package);
    }
    listing.push_str(
        "\nRun one with `cargo xtask bench NAME [-- ARGUMENTS]`, and all with `cargo xtask bench all`.\n",
    );
    listing
}

/// Runs one benchmark; what follows `--` on the command line is handed on to it.
pub(crate) fn run(workspace: &Workspace, bench: &Bench, arguments: &[String]) -> StepResult {
    let mut all = bench.command();
    if !arguments.is_empty() {
        all.push("--");
        all.extend(arguments.iter().map(String::as_str));
    }
    workspace.cargo(&all, &bench.repair())?;
    Ok(Outcome::Done)
}

/// Builds all benchmarks, with the features of all, and runs one after the other when nothing is left to be built.
pub(crate) fn run_all(workspace: &Workspace) -> StepResult {
    const REPAIR: &str = "Make `cargo xtask bench NAME` succeed for the one that failed, and run `cargo xtask bench all` again.";
    let mut all = vec!["bench", "--locked"];
    for bench in BENCHES {
        all.extend(["--package", bench.package, "--bench", bench.target]);
    }
    let features = BENCHES.iter().flat_map(|bench| {
        let features = bench.features.split(',').filter(|feature| !feature.is_empty());
        features.map(|feature| format!("{}/{feature}", bench.package))
    });
    let features = features.collect::<Vec<_>>().join(",");
    all.extend(["--features", &features]);
    workspace.cargo(&all, REPAIR)?;
    Ok(Outcome::Done)
}

impl Bench {
    fn command(&self) -> Vec<&'static str> {
        let mut all = vec!["bench", "--locked", "--package", self.package, "--bench", self.target];
        if !self.features.is_empty() {
            all.extend(["--features", self.features]);
        }
        all
    }

    fn repair(&self) -> String {
        format!("Make the command above succeed and run `cargo xtask bench {}` again.", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// Finds the packages below `crates` with their benchmarks.
    fn benchmarks() -> BTreeSet<(String, String)> {
        let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates");
        let names = |folder: &std::path::Path| -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        let of_package = |package: String| {
            let folder = std::path::Path::new(crates).join(&package).join("benches");
            names(&folder)
                .into_iter()
                .map(move |name| (package.clone(), name.trim_end_matches(".rs").to_owned()))
        };
        names(crates.as_ref()).into_iter().flat_map(of_package).collect()
    }

    #[test]
    fn every_benchmark_is_run_with_all_and_has_a_row_on_the_page() {
        let listed = super::BENCHES.iter().map(|bench| (bench.package.to_owned(), bench.target.to_owned()));
        assert_eq!(listed.collect::<BTreeSet<_>>(), benchmarks());
        let page = include_str!("../../docs/performance.md");
        let (_, all) = page.split_once("## All in one run").unwrap();
        let (all, _) = all.split_once("\n## ").unwrap();
        for bench in super::BENCHES {
            assert!(all.contains(&format!("\n| `{}` |", bench.name)), "{}", bench.name);
        }
    }

    #[test]
    fn lists_every_benchmark_with_what_it_measures() {
        assert_eq!(
            super::list(),
            "agent          a turn of a run beyond its model and tools, at its beginning and after a thousand \
             (haft-agent)\n\
             analysis       a script read before it runs, and its commands looked up among the patterns of rules \
             (haft-tool-shell)\n\
             edit           edits derived from the sources of many crates and made wrong: made, refused, made wrongly \
             (haft-tool-fs)\n\
             executor       one call through the whole pipeline, calls that overlap, and calls that queue \
             (haft-tools-core)\n\
             files          slices of a large file and an edit of one, against what reading and writing it costs (haft)\n\
             host_patterns  a host and port looked up among the patterns of rules (haft-http)\n\
             mcp            calls of an MCP server over standard streams, against the client of rmcp (haft-mcp)\n\
             openapi        reading a document beside reading its JSON, and making requests (haft-openapi)\n\
             path_patterns  a file looked up among the patterns of rules (haft-tool-fs)\n\
             policy         a call decided against many rules of all kinds (haft)\n\
             sandbox        a script that does nothing, within the bounds of the kernel and without (haft-tool-shell)\n\
             scaling        what grows with tools, files, calls and output: the points of docs/performance/scaling.csv \
             (haft)\n\
             search         the sources of many crates searched and listed, against ripgrep, cancelled searches, half a \
             million files in a second, and outlines (haft-tool-search)\n\
             serve          calls, lists and listeners that are served, against a server of rmcp (haft-mcp)\n\
             shell          a script and a program that do nothing, against the system, and a large output that is kept \
             (haft-tool-shell)\n\
             store          opening the database, a grant look-up, a journal append, and a claim (haft-store)\n\
             \nRun one with `cargo xtask bench NAME [-- ARGUMENTS]`, and all with `cargo xtask bench all`.\n"
        );
    }
}
