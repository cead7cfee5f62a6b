use super::*;

fn is_ignored(rules: Option<&Gitignore>, path: &str) -> bool {
    rules.is_some_and(|rules| rules.matched(path, false).is_ignore())
}

#[test]
fn the_rules_of_equal_files_are_compiled_once() {
    let known = KnownRules::default();
    let first = known.rules(b"*.log\n");
    let other = known.rules(b"*.txt\n");
    let second = known.rules(b"*.log\n");
    assert!(Arc::ptr_eq(first.as_ref().unwrap(), second.as_ref().unwrap()));
    assert!(is_ignored(second.as_deref(), "a.log") && !is_ignored(second.as_deref(), "a.txt"));
    assert!(is_ignored(other.as_deref(), "a.txt") && !is_ignored(other.as_deref(), "a.log"));
    assert!(known.rules(b"# nothing\n").is_none() && known.rules(b"# nothing\n").is_none());
}

#[test]
fn what_is_kept_of_rules_is_bounded() {
    let known = KnownRules::default();
    for number in 0..5_000 {
        let file = format!("/{number}\n{}", "#\n".repeat(number % 3_000));
        let rules = known.rules(file.as_bytes());
        assert!(is_ignored(rules.as_deref(), &number.to_string()));
        let Known { rules, bytes } = &*known.known();
        assert_eq!(rules.keys().map(|file| file.len()).sum::<usize>(), *bytes);
        assert!(*bytes <= KNOWN_MAX && rules.len() <= KNOWN_FILES_MAX, "{bytes} bytes in {}", rules.len());
        assert!(rules.keys().all(|file| file.len() <= KNOWN_FILE_MAX));
    }
}
