use crate::text;
use haft_testkit::Tree;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

/// Tells whether a name, or a path, matches a pattern, by trying everything.
fn matches(pattern: &[char], path: &[char]) -> bool {
    match pattern {
        [] => path.is_empty(),
        ['*', '*', '/', rest @ ..] => {
            matches(rest, path)
                || path
                    .iter()
                    .enumerate()
                    .any(|(at, character)| *character == '/' && matches(rest, &path[at + 1..]))
        }
        ['*', '*'] => !path.is_empty(),
        ['*', rest @ ..] => {
            let stop = path.iter().position(|character| *character == '/').unwrap_or(path.len());
            (0..=stop).any(|at| matches(rest, &path[at..]))
        }
        ['?', rest @ ..] => {
            path.first().is_some_and(|character| *character != '/') && matches(rest, &path[1..])
        }
        ['[', rest @ ..] => {
            let end = rest.iter().position(|character| *character == ']').unwrap();
            path.first().is_some_and(|character| rest[..end].contains(character))
                && matches(&rest[end + 1..], &path[1..])
        }
        ['{', rest @ ..] => {
            let end = rest.iter().position(|character| *character == '}').unwrap();
            rest[..end]
                .split(|character| *character == ',')
                .any(|choice| matches(&[choice, &rest[end + 1..]].concat(), path))
        }
        [character, rest @ ..] => path.first() == Some(character) && matches(rest, &path[1..]),
    }
}

fn naive(pattern: &str, paths: &BTreeSet<Vec<String>>, directories: bool) -> Vec<String> {
    let plain = pattern.trim_end_matches('/');
    let pattern =
        if plain.contains('/') { plain.trim_start_matches('/').to_owned() } else { format!("**/{plain}") };
    let pattern: Vec<char> = pattern.chars().collect();
    let mut found = BTreeSet::new();
    for path in paths {
        let candidates = if directories { 1..path.len() } else { path.len()..path.len() + 1 };
        for candidate in candidates.map(|end| &path[..end]) {
            let text: Vec<char> = candidate.join("/").chars().collect();
            if matches(&pattern, &text) {
                found.insert(candidate.to_vec());
            }
        }
    }
    let slash = if directories { "/" } else { "" };
    found.into_iter().map(|path| format!("{}{slash}", path.join("/"))).collect()
}

fn paths() -> impl Strategy<Value = BTreeSet<Vec<String>>> {
    let name =
        prop_oneof![Just("a"), Just("b"), Just("ab"), Just("a.b"), Just("b.a"), Just("aa"), Just("bé")];
    let path = prop::collection::vec(name.prop_map(str::to_owned), 1..4);
    prop::collection::btree_set(path, 1..12).prop_map(|mut paths| {
        // A name cannot be both a file and a directory.
        let directories: BTreeSet<Vec<String>> =
            paths.iter().flat_map(|path| (1..path.len()).map(|end| path[..end].to_vec())).collect();
        paths.retain(|path| !directories.contains(path));
        paths
    })
}

fn pattern() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[ab.é]",
        2 => Just("*".to_owned()),
        1 => Just("?".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[.b]".to_owned()),
        1 => Just("{a,b.}".to_owned()),
        1 => Just("{,.b,aa}".to_owned()),
    ];
    // Two stars in a row are another thing, and two dots are refused.
    let segment = prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat());
    let segment =
        segment.prop_filter("not plain", |segment| !segment.contains("**") && !segment.contains(".."));
    let segment =
        segment.prop_filter("names nothing", |segment| segment != "." && !segment.starts_with("{,"));
    let segment = prop_oneof![4 => segment, 1 => Just("**".to_owned())];
    (prop::collection::vec(segment, 1..4), any::<bool>(), any::<bool>()).prop_map(
        |(segments, anchored, directories)| {
            let slash = |yes| if yes { "/" } else { "" };
            format!("{}{}{}", slash(anchored), segments.join("/"), slash(directories))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_trying_everything(paths in paths(), pattern in pattern(), limit in prop_oneof![1_usize..5, Just(1000)]) {
        // As in ripgrep, `?` stands for one byte.
        if pattern.contains('?') && !paths.iter().flatten().all(|name| name.is_ascii()) {
            return Ok(());
        }
        let tree = paths.iter().fold(Tree::new(), |tree, path| tree.file(&path.join("/"), ""));
        let expected = naive(&pattern, &paths, pattern.ends_with('/'));
        let input = json!({ "pattern": pattern, "limit": limit });
        let text = text(&tree, "glob", input);
        let Some((found, summary)) = text.rsplit_once("\n\n") else {
            prop_assert!(expected.is_empty() && text.starts_with("no "), "{} {:?}", text, expected);
            return Ok(());
        };
        let shown = expected.len().min(limit);
        prop_assert_eq!(found.lines().collect::<Vec<_>>(), &expected[..shown]);
        let is_all = !summary.starts_with("the first");
        prop_assert_eq!(is_all, shown == expected.len());
        prop_assert!(summary.contains(&expected.len().to_string()));
    }
}
