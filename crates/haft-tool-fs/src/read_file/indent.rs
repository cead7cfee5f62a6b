/// What the lines of a text are indented by.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Indent {
    tabs: u64,
    /// Lines with blanks at their start.
    blanks: u64,
    /// How often a line is indented by so many blanks more than the one before.
    steps: [u64; 9],
    before: usize,
}

impl Indent {
    /// Takes the next line into account.
    pub(super) fn add(&mut self, line: &str) {
        let solid = line.trim_start_matches([' ', '\t']);
        if solid.is_empty() {
            return;
        }
        let indent = &line[..line.len() - solid.len()];
        if indent.contains('\t') {
            self.tabs += 1;
        } else {
            self.blanks += u64::from(!indent.is_empty());
            if let Some(count) =
                indent.len().checked_sub(self.before).and_then(|step| self.steps.get_mut(step))
            {
                *count += 1;
            }
            self.before = indent.len();
        }
    }

    /// Says it: `indented by tabs`, `indented by 4 blanks`; nothing where no line is indented.
    pub(super) fn words(&self) -> Option<String> {
        let steps = self.steps.iter().enumerate().skip(2);
        let step =
            steps.max_by_key(|(step, count)| (**count, usize::MAX - step)).filter(|(_, count)| **count > 0);
        match (self.tabs, self.blanks, step) {
            (0, 0, _) => None,
            (_, 0, _) => Some("indented by tabs".to_owned()),
            (0, _, Some((step, _))) => Some(format!("indented by {step} blanks")),
            (0, _, None) => None,
            _ => Some("indented by tabs and blanks".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Indent;

    fn check(text: &str, expected: Option<&str>) {
        let mut indent = Indent::default();
        text.lines().for_each(|line| indent.add(line));
        assert_eq!(indent.words().as_deref(), expected, "{text:?}");
    }

    #[test]
    fn says_what_most_lines_are_indented_by() {
        check("a\n\nb\n", None);
        check("a\n\tb\n\t\tc\n", Some("indented by tabs"));
        check("a\n    b\n        c\n    d\n", Some("indented by 4 blanks"));
        check("a\n  b\n    c\n      continued\n", Some("indented by 2 blanks"));
        check("a\n\tb\n    c\n", Some("indented by tabs and blanks"));
        check("/**\n * a\n */\n", None);
    }
}
