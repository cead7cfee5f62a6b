/// Tells which paths have all characters of a query, in their order, part by part.
///
/// It says no only where the comparison would find that a character is missing, and costs a small part of it: what the
/// directory has of them is looked for once for all its files. Letter case does not count.
#[derive(Debug)]
pub(super) struct Letters(Vec<Part>);

#[derive(Debug)]
struct Part {
    /// In lower case, and only of ASCII: how others are compared is left to the comparison.
    letters: Box<[u8]>,
    /// How many of them the directory has.
    in_directory: usize,
}

impl Letters {
    /// Prepares to look for the parts of a query, between which there is blank space.
    pub(super) fn of(query: &str) -> Self {
        let parts = query.split_whitespace().filter(|part| part.is_ascii());
        let letters = parts.map(|part| part.to_ascii_lowercase().into_bytes().into());
        Self(letters.map(|letters| Part { letters, in_directory: 0 }).collect())
    }

    /// Goes into a directory, whose path ends in `/` or is empty.
    pub(super) fn enter(&mut self, directory: &str) {
        for part in &mut self.0 {
            part.in_directory = part.after(0, directory);
        }
    }

    /// Tells whether the path of a file of the directory has all of them.
    pub(super) fn are_in(&self, name: &str) -> bool {
        self.0.iter().all(|part| part.after(part.in_directory, name) == part.letters.len())
    }
}

impl Part {
    /// How many there are with those of `text`, where there were `before` in front of it.
    fn after(&self, before: usize, text: &str) -> usize {
        let mut found = before;
        for byte in text.bytes() {
            match self.letters.get(found) {
                Some(letter) if *letter == byte.to_ascii_lowercase() => found += 1,
                Some(_) => {}
                None => break,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::rank::Query;
    use super::super::search::Closeness;
    use proptest::prelude::*;

    fn check(query: &str, directory: &str, name: &str) -> bool {
        let query = Query::parse(query).unwrap();
        let mut letters = query.letters();
        letters.enter(directory);
        let path = format!("{directory}{name}");
        let fits = query.ranking(Closeness::Exact).fit(name, &path).is_some();
        let has_all = letters.are_in(name);
        assert!(has_all || !fits, "{query:?} fits {path:?}");
        has_all
    }

    #[test]
    fn looks_for_each_part_in_the_whole_path() {
        assert!(check("srcmn", "src/", "main.rs"));
        assert!(check("main src", "src/", "Main.rs"));
        assert!(check("MAIN", "src/", "MAIN.rs"));
        assert!(!check("mainsrc", "src/", "main.rs"));
        assert!(!check("lib src", "src/", "main.rs"));
        // What is not of ASCII is left to the comparison.
        assert!(check("ü", "src/", "main.rs"));
        assert!(!check("ü lib", "src/", "main.rs"));
    }

    proptest! {
        #[test]
        fn whatever_fits_has_all_letters(
            query in "[aAbkKßüſK/._ ]{0,4}[ab]",
            directory in "([aAbkKßüſK._]{1,4}/){0,2}",
            name in "[aAbkKßüſK._]{1,6}",
        ) {
            check(&query, &directory, &name);
        }
    }
}
