//! Compares the patterns with what globset says of every path of a small tree, one after the other.

use super::*;
use globset::{GlobBuilder, GlobMatcher};
use proptest::prelude::*;

/// The working directory of these tests, and the names from which every path of up to four of them is made.
const ROOT: &str = "r/s";
const NAMES: [&str; 4] = ["r", "s", "a", "A"];

fn paths() -> Vec<String> {
    let mut paths = vec![String::new()];
    let mut longest = paths.clone();
    for _ in 0..4 {
        longest = longest
            .iter()
            .flat_map(|path| {
                NAMES.map(|name| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") })
            })
            .collect();
        paths.extend(longest.iter().cloned());
    }
    paths
}

/// What a pattern means, by the path from `/`: each glob with what lies below or without.
struct Oracle {
    globs: Vec<GlobMatcher>,
    means_trees: bool,
}

impl Oracle {
    fn new(pattern: &str, ignores_case: bool) -> Self {
        let absolute = match pattern.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None if pattern.contains('/') => format!("{ROOT}/{pattern}"),
            None => format!("{ROOT}/**/{pattern}"),
        };
        // A `**` in the middle, twice or before the last `*`, means what one at the end does.
        let mut absolute = absolute;
        while let Some(shorter) = absolute.strip_suffix("**/*").or(absolute.strip_suffix("**/**")) {
            absolute = format!("{shorter}**");
        }
        let whole = absolute.strip_suffix("/**").or((absolute == "**").then_some(""));
        let last = absolute.rsplit('/').next().unwrap_or_default();
        let means_trees = last == "**" || !last.contains(['*', '?', '[']);
        let globs = [Some(absolute.as_str()), whole].into_iter().flatten().map(|glob| {
            let glob = GlobBuilder::new(glob).literal_separator(true).case_insensitive(ignores_case).build();
            glob.unwrap().compile_matcher()
        });
        Self { globs: globs.collect(), means_trees: means_trees || ignores_case }
    }

    fn matches(&self, path: &str) -> bool {
        // No name is empty, which globset does not know.
        let is_match = |path: &str| {
            self.globs.iter().any(|glob| match path {
                "" => matches!(glob.glob().glob(), "" | "**"),
                path => glob.is_match(path),
            })
        };
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]).chain([""]);
        is_match(path) || (self.means_trees && above.any(is_match))
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a", "A", "r", "s", "*", "**", "?", "a*", "*[!a]", "[ar]", "{a,s}", "[!A]?",
    ]);
    let names = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    (prop::sample::select(vec!["", "", "/", "/r/", "/r/s/"]), names)
        .prop_map(|(start, names)| start.to_owned() + &names)
}

/// The resource of a path or tree from `/`.
fn resource(path: &str, is_tree: bool) -> Resource {
    let inside = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let (scheme, path) = match inside {
        Some(path) => (FILE, path.trim_start_matches('/').to_owned()),
        None => (OUTSIDE, format!("/{path}")),
    };
    if is_tree {
        Resource::subtree(scheme, path.trim_end_matches('/'))
    } else {
        Resource::exact(scheme, path)
    }
}

fn is_in(path: &str, tree: &str) -> bool {
    tree.is_empty() || path == tree || path.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/'))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_trying_every_pattern_on_every_path(patterns in prop::collection::vec(pattern(), 1..5)) {
        let texts: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let set = compile(&PathPatterns::for_reading().root("/r/s"), &texts);
        let strict: Vec<Oracle> = texts.iter().map(|text| Oracle::new(text, false)).collect();
        let loose: Vec<Oracle> = texts.iter().map(|text| Oracle::new(text, true)).collect();
        let paths = paths();
        for path in &paths {
            let exact = resource(path, false);
            let contained = strict.iter().position(|oracle| oracle.matches(path));
            prop_assert_eq!(set.first_containing(&exact), contained, "{}", &exact);
            let touched = strict.iter().zip(&loose).position(|(strict, loose)| strict.matches(path) || loose.matches(path));
            prop_assert!(set.first_touching(&exact) <= touched || touched.is_none(), "{} {:?}", &exact, touched);
            prop_assert_eq!(touched.is_some(), touched.is_some() && set.first_touching(&exact).is_some(), "{}", &exact);
        }
        for tree in paths.iter().filter(|path| path.len() <= 3) {
            let subtree = resource(tree, true);
            let below: Vec<&String> = paths.iter().filter(|path| is_in(path, tree)).collect();
            // What is contained is contained whole.
            if let Some(index) = set.first_containing(&subtree) {
                prop_assert!(below.iter().all(|path| strict[index].matches(path)), "{} by {}", &subtree, texts[index]);
            }
            // What is touched anywhere is touched.
            let touched = loose.iter().zip(&strict).position(|(loose, strict)| {
                below.iter().any(|path| loose.matches(path) || strict.matches(path))
            });
            if let Some(index) = touched {
                prop_assert!(set.first_touching(&subtree).is_some_and(|found| found <= index), "{} {}", &subtree, index);
            }
        }
    }

    #[test]
    fn a_pattern_that_is_suggested_contains_what_it_is_suggested_for(path in r"[a.~!*?\[{\\é-]{1,4}(/[a.~!*?\[{\\é-]{1,4}){0,2}") {
        let syntaxes = [PathPatterns::for_reading().root("/r"), PathPatterns::for_writing().root("/r")];
        let resources = [Resource::exact(FILE, path.as_str()), Resource::subtree(FILE, path.as_str()), Resource::exact(OUTSIDE, format!("/{path}"))];
        for (syntax, resource) in syntaxes.iter().flat_map(|syntax| resources.iter().map(move |resource| (syntax, resource))) {
            if let Some(pattern) = syntax.suggest(resource) {
                prop_assert_eq!(compile(syntax, &[&pattern]).first_containing(resource), Some(0), "{}", pattern);
                let neighbour = Resource::exact(FILE, format!("x/{path}"));
                prop_assert_eq!(compile(syntax, &[&pattern]).first_containing(&neighbour), None, "{}", pattern);
            }
        }
    }
}
