//! Patterns of paths: what contains also touches, writing opens no more than reading, and a list says what its patterns say.
#![no_main]

use haft::fs::PathPatterns;
use haft::tools_core::{PatternSet, PatternSyntax as _};
use haft::{Resource, Scheme};
use libfuzzer_sys::fuzz_target;

const FILE: Scheme = Scheme::new("file");

fn compiled(syntax: &PathPatterns, patterns: &[&str]) -> Option<Box<dyn PatternSet>> {
    let patterns: Vec<Box<str>> = patterns.iter().map(|pattern| Box::from(*pattern)).collect();
    syntax.compile(&patterns).ok()
}

// The last line is a path, the lines before it are patterns.
fuzz_target!(|text: &str| {
    let Some((patterns, path)) = text.rsplit_once('\n') else { return };
    let reading = PathPatterns::for_reading().root("/w/d").home("/home/u");
    let writing = PathPatterns::for_writing().root("/w/d").home("/home/u");
    let Ok(resource) = reading.resource(path) else { return };
    let patterns: Vec<&str> =
        patterns.split('\n').filter(|pattern| compiled(&reading, &[pattern]).is_some()).collect();
    let below = Resource::subtree(resource.scheme().clone(), resource.path());
    let inside = match resource.path() {
        "" => Resource::exact(FILE, "x"),
        path => Resource::exact(resource.scheme().clone(), format!("{}/x", path.trim_end_matches('/'))),
    };
    // What is protected is a group for writing, and a file of that name for reading.
    for pattern in patterns.iter().filter(|pattern| pattern.trim() != "@protected") {
        let read = compiled(&reading, &[pattern]).expect("it is a pattern");
        if read.first_containing(&resource).is_some() {
            assert_eq!(
                read.first_touching(&resource),
                Some(0),
                "`{pattern}` contains and does not touch {resource}"
            );
        }
        if read.first_containing(&below).is_some() {
            assert_eq!(
                read.first_containing(&inside),
                Some(0),
                "`{pattern}` contains {below} and not {inside}"
            );
            assert_eq!(read.first_touching(&below), Some(0));
        }
        if read.first_touching(&inside).is_some() {
            assert_eq!(read.first_touching(&below), Some(0), "`{pattern}` touches {inside} and not {below}");
        }
        if let Some(write) = compiled(&writing, &[pattern]) {
            for wanted in [&resource, &below, &inside] {
                if write.first_containing(wanted).is_some() {
                    assert!(
                        read.first_containing(wanted).is_some(),
                        "`{pattern}` writes and does not read {wanted}"
                    );
                }
                assert_eq!(
                    write.first_touching(wanted).is_some(),
                    read.first_touching(wanted).is_some(),
                    "`{pattern}` touches {wanted} for one of reading and writing",
                );
            }
        }
    }
    if let Some(all) = compiled(&reading, &patterns) {
        for wanted in [&resource, &below, &inside] {
            let first = |says: &dyn Fn(&dyn PatternSet) -> Option<usize>| {
                patterns.iter().position(|pattern| {
                    says(&*compiled(&reading, &[pattern]).expect("it is a pattern")).is_some()
                })
            };
            assert_eq!(all.first_containing(wanted), first(&|set| set.first_containing(wanted)), "{wanted}");
            assert_eq!(all.first_touching(wanted), first(&|set| set.first_touching(wanted)), "{wanted}");
        }
    }
    for syntax in [&reading, &writing] {
        if let Some(suggested) = syntax.suggest(&resource) {
            let set = compiled(syntax, &[&suggested])
                .unwrap_or_else(|| panic!("`{suggested}` is suggested and no pattern"));
            assert_eq!(set.first_containing(&resource), Some(0), "`{suggested}` is suggested for {resource}");
        }
    }
});
