//! Names of tools for operations, and names of arguments.

use haft_core::ToolName;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// The most characters of the name of a tool or an argument.
const MOST_CHARACTERS: usize = 64;

/// The most bytes of a wish that are looked at.
const MOST_LOOKED_AT: usize = 1_000;

/// The hexadecimal digits behind a name that would not be its own otherwise.
///
/// As many as [`ToolName::project`] takes, so that nobody has a name of a document that looks like the project of another.
const SUFFIX_DIGITS: usize = 12;

/// Names tools for a list of operations, each given by what it wants to be called and what tells it from all others.
///
/// The names do not depend on the order. Characters that are not allowed become `_`. Where several come to the same name,
/// the one that is written exactly so keeps it, and the others get a suffix made of what tells them apart. So does every name
/// that ends in what looks like such a suffix, since it could be that of another.
pub(crate) fn tool_names<'a>(wanted: impl Iterator<Item = (&'a str, String)> + Clone) -> Vec<ToolName> {
    let projected: Vec<_> = wanted.clone().map(|(wish, _)| sanitised(wish, false)).collect();
    let mut owners: HashMap<&str, Owner> = HashMap::new();
    for ((wish, _), name) in wanted.clone().zip(&projected) {
        let owner = owners.entry(name.as_ref()).or_default();
        owner.all += 1;
        owner.exact += usize::from(wish == name);
    }
    let names = wanted.clone().zip(&projected).map(|((wish, identity), name)| {
        let owner = owners.get(name.as_ref()).copied().unwrap_or_default();
        let is_own = (owner.all == 1 || owner.exact == 1 && wish == name) && !has_suffix(name);
        let name = if is_own && name.len() <= MOST_CHARACTERS && !name.is_empty() {
            Cow::Borrowed(name.as_ref())
        } else {
            Cow::Owned(with_suffix(name, &identity))
        };
        name.parse().unwrap_or_else(|_| ToolName::project(&identity))
    });
    let mut names: Vec<ToolName> = names.collect();
    // Whoever writes the document can look for two operations whose suffixes are alike.
    let mut seen: HashMap<ToolName, usize> = HashMap::new();
    for name in &names {
        *seen.entry(name.clone()).or_default() += 1;
    }
    for (name, (_, identity)) in names.iter_mut().zip(wanted) {
        if seen.get(name).is_some_and(|times| *times > 1) {
            let again = with_suffix(name.as_str(), &format!("{name} {identity}"));
            *name = again.parse().unwrap_or_else(|_| ToolName::project(&identity));
        }
    }
    names
}

/// Counts who comes to one name.
#[derive(Debug, Clone, Copy, Default)]
struct Owner {
    all: usize,
    exact: usize,
}

/// Writes a name for the method and path of an operation that has no other.
pub(crate) fn of_place(method: &str, path: &str) -> String {
    format!("{}_{}", method.to_ascii_lowercase(), sanitised(path, false))
}

/// Names the arguments of an operation: each wish stays as it is where that is allowed and nobody else has it.
///
/// Every argument has a wish and a place, such as `query`, and no two have both alike. The order decides nothing but who
/// keeps a name that several have a right to.
pub(crate) fn keys<'a>(wanted: impl Iterator<Item = (&'a str, &'static str)>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let wanted: Vec<_> = wanted.collect();
    let mut keys = vec![String::new(); wanted.len()];
    // Those that are allowed as they are come first, so that none of the others takes a name that is another's own.
    for is_allowed in [true, false] {
        for ((wish, place), key) in wanted.iter().zip(&mut keys) {
            if is_key(wish) != is_allowed {
                continue;
            }
            let plain = sanitised(wish, true);
            // Most take the first of them, so the others are made only when it is their turn.
            let wishes: [&dyn Fn() -> String; 3] =
                [&|| plain.to_string(), &|| format!("{place}_{plain}"), &|| {
                    with_suffix(&plain, &format!("{place} {wish}"))
                }];
            let free = wishes.iter().map(|made| made()).find(|name| is_key(name) && !taken.contains(name));
            // The places are few and the suffix tells the rest apart, but nothing may be lost if it does not.
            let free =
                free.unwrap_or_else(|| with_suffix("argument", &format!("{place} {wish} {}", taken.len())));
            taken.insert(free.clone());
            *key = free;
        }
    }
    keys
}

/// Writes a property within a schema so that every provider takes it: as it is, or with a suffix that tells it apart.
pub(crate) fn nested_key(name: &str) -> Cow<'_, str> {
    if is_key(name) && !has_suffix(name) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(with_suffix(&sanitised(name, true), name))
}

/// Tells whether a key may be one that [`nested_key`] has written.
pub(crate) fn has_suffix(name: &str) -> bool {
    name.len().checked_sub(SUFFIX_DIGITS + 1).is_some_and(|start| {
        let suffix = &name.as_bytes()[start..];
        suffix[0] == b'_' && suffix[1..].iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Tells whether every provider takes a text as the name of a property.
pub(crate) fn is_key(name: &str) -> bool {
    (1..=MOST_CHARACTERS).contains(&name.len()) && name.bytes().all(|byte| is_allowed(char::from(byte), true))
}

/// Tells whether a character may be in a name.
pub(crate) fn is_allowed(character: char, dots: bool) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-') || dots && character == '.'
}

/// Puts one `_` for each run of characters that are not allowed, and none at the ends.
fn sanitised(text: &str, dots: bool) -> Cow<'_, str> {
    let text = &text[..text.floor_char_boundary(MOST_LOOKED_AT)];
    if !text.is_empty()
        && text.len() <= MOST_CHARACTERS
        && text.chars().all(|character| is_allowed(character, dots))
    {
        return Cow::Borrowed(text);
    }
    let mut name = String::with_capacity(text.len().min(2 * MOST_CHARACTERS));
    for character in text.chars() {
        if is_allowed(character, dots) {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if name.len() > MOST_CHARACTERS {
            break;
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    Cow::Owned(name)
}

fn with_suffix(name: &str, identity: &str) -> String {
    let room = MOST_CHARACTERS - SUFFIX_DIGITS - 1;
    let mut name = name[..name.floor_char_boundary(room)].to_owned();
    name.push('_');
    for byte in Sha256::digest(identity.as_bytes()).iter().take(SUFFIX_DIGITS / 2) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    #![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

    use super::{has_suffix, keys, nested_key, tool_names};
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    #[track_caller]
    fn check(wishes: &[&str], expected: &Expect) {
        let wanted = wishes.iter().enumerate().map(|(index, wish)| (*wish, format!("GET /{index}")));
        let names = tool_names(wanted);
        let names: Vec<&str> = names.iter().map(haft_core::ToolName::as_str).collect();
        expected.assert_eq(&names.join("\n"));
    }

    #[test]
    fn tools_keep_their_names_where_they_can() {
        check(
            &["listPets", "repos/list-for-org", "/a//b/{c}/"],
            &expect![[r#"
            listPets
            repos_list-for-org
            a_b_c"#]],
        );
        check(
            &["a/b", "a.b", "a_b"],
            &expect![[r#"
                a_b_157856c59fc4
                a_b_327f68111c52
                a_b"#]],
        );
        check(
            &["same", "same"],
            &expect![[r#"
                same_157856c59fc4
                same_327f68111c52"#]],
        );
        check(
            &["", "…", &"x".repeat(100)],
            &expect![[r#"
                _157856c59fc4
                _327f68111c52
                xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_7d1cd70024a8"#]],
        );
    }

    #[test]
    fn arguments_keep_their_names_where_they_can() {
        let wanted = [
            ("id", "path"),
            ("id", "body"),
            ("filter[name]", "query"),
            ("filter_name", "query"),
            ("", "query"),
        ];
        expect![[r#"
            id
            body_id
            query_filter_name
            filter_name
            query_"#]]
        .assert_eq(&keys(wanted.into_iter()).join("\n"));
    }

    #[test]
    fn nobody_has_the_name_that_another_gets() {
        // The last one spells what the first one is called.
        let first = tool_names([("a/b", "GET /0".to_owned()), ("a.b", "GET /1".to_owned())].into_iter())[0]
            .to_string();
        check(
            &["a/b", "a.b", &first],
            &expect![[r#"
            a_b_157856c59fc4
            a_b_327f68111c52
            a_b_157856c59fc4_7d1cd70024a8"#]],
        );
    }

    proptest! {
        #[test]
        fn names_are_valid_unique_and_independent_of_the_order(
            wishes in proptest::collection::vec("[ab_/é.]{0,4}|[a]{60,70}", 0..20),
            turn in 0_usize..20,
        ) {
            let wanted: Vec<(&str, String)> =
                wishes.iter().enumerate().map(|(index, wish)| (wish.as_str(), format!("GET /{index}"))).collect();
            let names = tool_names(wanted.iter().cloned());
            let unique: std::collections::HashSet<_> = names.iter().collect();
            prop_assert_eq!(unique.len(), names.len());
            let mut turned = wanted;
            let by = turn % turned.len().max(1);
            turned.rotate_left(by);
            let mut again = tool_names(turned.iter().cloned());
            again.rotate_right(by);
            prop_assert_eq!(again, names);
        }

        #[test]
        fn keys_are_valid_and_unique(wishes in proptest::collection::hash_set("[ab_/é.]{0,4}|[a]{60,70}", 0..20)) {
            let wanted = wishes.iter().flat_map(|wish| [(wish.as_str(), "path"), (wish.as_str(), "body")]);
            let keys = keys(wanted);
            prop_assert!(keys.iter().all(|key| super::is_key(key)));
            let unique: std::collections::HashSet<_> = keys.iter().collect();
            prop_assert_eq!(unique.len(), keys.len());
        }

        #[test]
        fn nested_keys_tell_what_they_stand_for(name in ".{0,80}") {
            let key = nested_key(&name);
            prop_assert!(super::is_key(&key));
            prop_assert!(*key == *name || has_suffix(&key));
        }
    }
}
