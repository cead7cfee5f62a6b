/// The most names that are offered.
const MOST: usize = 3;

/// Finds the names that are most like what was written: at most three, the likest first; for errors that name the next step.
///
/// Likeness is the Damerau-Levenshtein similarity without regard to case and to `-`, `_` and blanks; a name that
/// contains what was written, or is contained in it, counts as alike too.
///
/// ```
/// use haft_tools_core::{listed, nearest};
///
/// let names = ["glob", "grep", "read_file", "read_output"];
/// assert_eq!(nearest("ReadFile", names), ["read_file"]);
/// assert_eq!(listed(nearest("ReadFile", names), "or"), "`read_file`");
/// assert!(nearest("deploy", names).is_empty());
/// ```
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    /// Below this, two names have little more in common than some letters.
    const ALIKE: f64 = 0.6;
    let wanted = folded(wanted);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let folded = folded(name);
            let contained = wanted.len() >= 3
                && folded.len() >= 3
                && (folded.contains(&wanted) || wanted.contains(&folded));
            let bonus = if contained { 0.5 } else { 0.0 };
            let score = strsim::normalized_damerau_levenshtein(&wanted, &folded) + bonus;
            (score >= ALIKE).then_some((score, name))
        })
        .collect();
    scored.sort_by(|(one, left), (other, right)| other.total_cmp(one).then_with(|| left.cmp(right)));
    scored.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// Cuts what a model wrote to a size at which comparing stays cheap.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '-' | '_' | ' '))
        .take(100)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Writes names as `` `a`, `b` or `c` ``, with `last` before the last of them; empty for none.
///
/// ```
/// use haft_tools_core::listed;
///
/// assert_eq!(listed(["a", "b", "c"], "or"), "`a`, `b` or `c`");
/// assert_eq!(listed(["a"], "or"), "`a`");
/// assert_eq!(listed([], "or"), "");
/// ```
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [start @ .., end] => format!("{} {last} {end}", start.join(", ")),
    }
}
