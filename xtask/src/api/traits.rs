//! What every public type can do that nobody has written out: that it can be cloned, compared, shared between threads.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Traits that say nothing to whoever uses a type, but for those that rely on what compilers do.
const UNTOLD: [&str; 7] =
    ["Freeze", "RefUnwindSafe", "StructuralPartialEq", "TrivialClone", "Unpin", "UnsafeUnpin", "UnwindSafe"];

/// Writes a line for each type with the traits that are in the longer list and not in the shorter: those that were derived,
/// and those that hold by themselves. What does not hold of `Send` and `Sync` is marked with a `!`.
pub(super) fn held(longer: &str, shorter: &str) -> String {
    let mut told: HashMap<&str, usize> = HashMap::new();
    for line in shorter.lines() {
        *told.entry(line).or_default() += 1;
    }
    let mut types: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in longer.lines() {
        match told.get_mut(line).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => {
                if let Some((name, of)) = implemented(line) {
                    types.entry(of).or_default().insert(name);
                }
            }
        }
    }
    let line = |(of, names): (&str, BTreeSet<&str>)| {
        format!("{of}: {}\n", names.into_iter().collect::<Vec<_>>().join(", "))
    };
    types.into_iter().map(line).collect()
}

/// Reads the trait and the type of `impl<..> path::Trait<..> for Type where ..`.
fn implemented(line: &str) -> Option<(&str, &str)> {
    let (path, of) = behind_generics(line.strip_prefix("impl")?).split_once(" for ")?;
    let (of, _) = of.split_once(" where ").unwrap_or((of, ""));
    let plain = path.split('<').next()?;
    let name = plain.rsplit("::").next()?;
    if UNTOLD.contains(&name) {
        return None;
    }
    // The mark of what does not hold is at the beginning of the path.
    let name = match (plain.trim_start().starts_with('!'), name) {
        (true, "Send") => "!Send",
        (true, "Sync") => "!Sync",
        (true, _) => return None,
        (false, name) => name,
    };
    Some((name, of))
}

/// Passes over generic parameters.
fn behind_generics(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if at > 0 && text.as_bytes()[at - 1] == b'-' => {}
            b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &text[at + usize::from(byte == b'>')..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::held;

    #[test]
    fn every_type_has_one_line_of_what_it_can_do() {
        let shorter = "pub struct a::B\nimpl core::fmt::Display for a::B\npub struct a::C<T>\n";
        let longer = "pub struct a::B\n\
                      impl core::clone::Clone for a::B\n\
                      pub fn a::B::clone(&self) -> a::B\n\
                      impl core::fmt::Display for a::B\n\
                      impl<'de> serde_core::de::Deserialize<'de> for a::B\n\
                      impl core::marker::Send for a::B\n\
                      impl !core::marker::Sync for a::B\n\
                      impl !core::marker::Freeze for a::B\n\
                      impl core::marker::Unpin for a::B\n\
                      pub struct a::C<T>\n\
                      impl<T: core::ops::Fn(u8) -> bool> core::marker::Send for a::C<T> where T: core::marker::Send\n";
        assert_eq!(held(longer, shorter), "a::B: !Sync, Clone, Deserialize, Send\na::C<T>: Send\n");
    }
}
