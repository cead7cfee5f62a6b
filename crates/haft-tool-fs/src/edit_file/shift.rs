use std::iter;

/// How many columns a tab may stand for.
const TAB_WIDTHS: [usize; 4] = [2, 3, 4, 8];

/// By what the indentation of all lines of a text differs from that of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shift {
    /// Each line is indented by this too.
    More(String),
    /// Each line lacks this at its start.
    Less(String),
    /// A tab where there are so many blanks, and so many columns more.
    Tabs { width: usize, columns: isize },
    /// So many blanks where there is a tab, and so many columns more.
    Blanks { width: usize, columns: isize },
}

/// Finds every way in which lines can be shifted to become others; blank lines have no indentation.
pub(super) fn shifts<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Shift> {
    let indents: Vec<(&str, &str)> = pairs
        .filter(|(from, _)| !from.trim_matches([' ', '\t']).is_empty())
        .map(|(from, to)| (indentation(from), indentation(to)))
        .collect();
    let Some((from, to)) = indents.first().copied() else {
        return Vec::new();
    };
    let more = to.strip_suffix(from).map(|more| Shift::More(more.to_owned()));
    let less = from.strip_suffix(to).map(|less| Shift::Less(less.to_owned()));
    let (from, to) = (from.len().cast_signed(), to.len().cast_signed());
    let by_width = TAB_WIDTHS.into_iter().flat_map(|width| {
        let each = width.cast_signed();
        [Shift::Tabs { width, columns: to * each - from }, Shift::Blanks { width, columns: to - from * each }]
    });
    let mut shifts: Vec<Shift> = more.into_iter().chain(less).chain(by_width).collect();
    shifts.retain(|shift| indents.iter().all(|(from, to)| shift.apply(from).as_deref() == Some(*to)));
    // That a tab stands for so many blanks says all there is to say, so nothing is moved besides.
    if shifts.iter().any(Shift::only_translates) {
        shifts.retain(Shift::only_translates);
    }
    shifts
}

impl Shift {
    /// Shifts every line of a text; nothing where one cannot be.
    pub(super) fn lines(&self, text: &str) -> Option<String> {
        let shifted = |line: &str| {
            if line.trim_matches([' ', '\t', '\n']).is_empty() {
                return Some(line.to_owned());
            }
            let indent = indentation(line);
            Some(self.apply(indent)? + &line[indent.len()..])
        };
        text.split_inclusive('\n').map(shifted).collect()
    }

    fn only_translates(&self) -> bool {
        matches!(self, Self::Tabs { columns: 0, .. } | Self::Blanks { columns: 0, .. })
    }

    fn apply(&self, indent: &str) -> Option<String> {
        let only = |character: char| indent.chars().all(|each| each == character);
        match self {
            Self::More(more) => Some(format!("{more}{indent}")),
            Self::Less(less) => indent.strip_prefix(less.as_str()).map(str::to_owned),
            Self::Tabs { width, columns } if only(' ') => {
                let columns = indent.len().checked_add_signed(*columns)?;
                columns.is_multiple_of(*width).then(|| iter::repeat_n('\t', columns / width).collect())
            }
            Self::Blanks { width, columns } if only('\t') => {
                let columns = (indent.len() * width).checked_add_signed(*columns)?;
                Some(iter::repeat_n(' ', columns).collect())
            }
            Self::Tabs { .. } | Self::Blanks { .. } => None,
        }
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::shifts;

    /// What lines become by the shift that takes some to others; each way that there is.
    fn check(from: &str, to: &str, text: &str, expected: &[&str]) {
        let mut found: Vec<String> =
            shifts(from.lines().zip(to.lines())).iter().filter_map(|shift| shift.lines(text)).collect();
        found.dedup();
        assert_eq!(found, expected, "{from:?} {to:?} {text:?}");
    }

    #[test]
    fn shifts_to_the_right_and_to_the_left() {
        check("a\n  b\n", "    a\n      b\n", "c\n\n  d", &["    c\n\n      d"]);
        check("  a\n    b\n", "a\n  b\n", "  c\n    d\n", &["c\n  d\n"]);
        check("  a\n    b\n", "a\n  b\n", "c\n", &[]);
    }

    #[test]
    fn turns_blanks_into_tabs_and_back() {
        check("a\n    b\n", "a\n\tb\n", "c\n    d\n        e\n", &["c\n\td\n\t\te\n"]);
        check("a\n    b\n", "\ta\n\t\tb\n", "c\n    d\n", &["\tc\n\t\td\n"]);
        check("a\n\tb\n", "a\n  b\n", "c\n\t\td\n", &["c\n    d\n"]);
    }

    #[test]
    fn refuses_what_is_not_uniform() {
        check("a\n  b\n", "  a\n  b\n", "c", &[]);
        check("a\n  b\n", " a\n\tb\n", "c", &[]);
    }

    #[test]
    fn takes_a_tab_for_what_it_stands_for_where_that_is_enough() {
        check("   a\n", "\t\ta\n", "       c\n", &["\t\t\t\tc\n", "\t\t\tc\n"]);
        check("  a\n", "\t\ta\n", "      c\n", &["\t\t\t\tc\n", "\t\t\tc\n"]);
        check("    a\n", "\ta\n", "        c\n", &["\t\tc\n"]);
    }
}
