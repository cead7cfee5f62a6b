use super::grammar::{GRAMMARS, Grammar};
use memchr::memmem;

/// How much of a header is looked at to tell whether it is C++, in bytes.
const HEADER_BYTES: usize = 64 << 10;

/// What starts a line of a header only in C++.
const CPP_STARTS: [&str; 8] =
    ["class ", "namespace ", "template<", "template <", "public:", "private:", "protected:", "using "];

/// Finds the language of a file by its name.
pub(super) fn by_name(name: &str) -> Option<&'static Grammar> {
    let extension = extension(name)?;
    let is_of =
        |grammar: &&&Grammar| grammar.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension));
    let header = || by_language("C++").filter(|_| extension.eq_ignore_ascii_case("h"));
    GRAMMARS.iter().find(is_of).copied().or_else(header)
}

/// Finds the language of a file by its name, and by its text where the name leaves two.
pub(super) fn of(name: &str, text: &[u8]) -> Option<&'static Grammar> {
    let is_header = extension(name).is_some_and(|extension| extension.eq_ignore_ascii_case("h"));
    let cpp = by_language("C++").filter(|_| is_header && is_cpp(text));
    cpp.or_else(|| by_name(name))
}

fn by_language(name: &str) -> Option<&'static Grammar> {
    GRAMMARS.iter().find(|grammar| grammar.name == name).copied()
}

fn is_cpp(text: &[u8]) -> bool {
    let text = &text[..text.len().min(HEADER_BYTES)];
    CPP_STARTS.iter().any(|start| {
        memmem::find_iter(text, start).any(|at| {
            let line = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
            text[line..at].iter().all(u8::is_ascii_whitespace)
        })
    })
}

/// Returns what follows the last `.` of a name, if there is something before it.
pub(super) fn extension(name: &str) -> Option<&str> {
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
}

/// Names all languages that can be read.
pub(super) fn known(last: &str) -> String {
    let mut names: Vec<&str> = GRAMMARS.iter().map(|grammar| grammar.name).collect();
    names.dedup();
    match names.as_slice() {
        [] => "no language".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "code")]
    #[test]
    fn a_header_is_of_the_language_that_its_text_is_of() {
        let check = |text: &str, expected: &str| {
            assert_eq!(of("shapes.h", text.as_bytes()).unwrap().name, expected, "{text}");
        };
        check("int area(struct shape *shape);\n", "C");
        check("/* a class of shapes */\nstruct shape { int class; };\n", "C");
        check("#pragma once\nnamespace shapes {\n}\n", "C++");
        check("struct shape {\n  public:\n    int area();\n};\n", "C++");
        assert_eq!(of("shapes.c", b"class Shape {};\n").unwrap().name, "C");
    }

    #[cfg(feature = "code")]
    #[test]
    fn names_tell_languages() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(by_name(name).map(|grammar| grammar.name), expected, "{name}");
        };
        check("a.rs", Some("Rust"));
        check("A.PY", Some("Python"));
        check("a.d.ts", Some("TypeScript"));
        check("a.tsx", Some("TypeScript"));
        check("a.h", Some("C"));
        check(".rs", None);
        check("rs", None);
        check("a.txt", None);
        check("a.", None);
    }

    #[test]
    fn an_extension_has_something_before_it() {
        assert_eq!(extension("a.b.c"), Some("c"));
        assert_eq!(extension(".gitignore"), None);
        assert_eq!(extension("Makefile"), None);
    }
}
