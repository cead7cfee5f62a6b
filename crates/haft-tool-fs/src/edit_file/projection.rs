use std::borrow::Cow;
use std::ops::Range;

/// What two texts may differ in and still be taken for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blind {
    /// Blanks and tabs at the ends of lines.
    pub(super) trailing: bool,
    /// Which of several characters a punctuation mark or a blank is written with.
    pub(super) punctuation: bool,
}

/// A text written so that what makes no difference is not in it, and where each of its characters is from.
///
/// Lines end in LF whatever they end in.
pub(super) struct Projection<'a> {
    pub(super) text: Cow<'a, str>,
    steps: Vec<Step>,
}

/// A place at which the next character is not from right behind the one before, or has another length than in the text.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    projected: usize,
    /// Where the character before ends in the text.
    before: usize,
    /// Where the next starts; from there on the two go side by side.
    behind: usize,
}

impl<'a> Projection<'a> {
    pub(super) fn new(text: &'a str, blind: Blind) -> Self {
        let differs = text.contains('\r')
            || blind.trailing && has_trailing_blanks(text)
            || blind.punctuation && (!text.is_ascii() || text.contains("..."));
        if !differs {
            return Self { text: Cow::Borrowed(text), steps: Vec::new() };
        }
        let mut projection = Self { text: Cow::Owned(String::with_capacity(text.len())), steps: Vec::new() };
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let kept = if blind.trailing { trimmed(&rest[..line]) } else { line };
            projection.push_line(&rest[..kept], at, blind.punctuation);
            let end = match &rest.as_bytes()[line..] {
                [] => 0,
                [b'\r', b'\n', ..] => 2,
                _ => 1,
            };
            projection.step(at + kept, at + line);
            if end > 0 {
                projection.text.to_mut().push('\n');
                projection.step(at + line + end, at + line + end);
            }
            at += line + end;
        }
        projection
    }

    fn push_line(&mut self, line: &str, at: usize, folds: bool) {
        if !folds {
            self.text.to_mut().push_str(line);
            return;
        }
        let mut offset = 0;
        while let Some(character) = line[offset..].chars().next() {
            let (character, length) = if line[offset..].starts_with("...") {
                ('…', 3)
            } else {
                (folded(character), character.len_utf8())
            };
            self.text.to_mut().push(character);
            offset += length;
            self.step(at + offset, at + offset);
        }
    }

    /// Notes where the character before ended and where the next starts, unless that is as expected.
    fn step(&mut self, before: usize, behind: usize) {
        let projected = self.text.len();
        let last = self.steps.last().copied().unwrap_or_default();
        if before != behind || last.behind + (projected - last.projected) != before {
            self.steps.push(Step { projected, before, behind });
        }
    }

    /// Finds where something of the text is that starts and ends at these places of the projection.
    pub(super) fn place(&self, projected: &Range<usize>) -> Range<usize> {
        if projected.is_empty() {
            let end = self.end(projected.end);
            return end..end;
        }
        let start = projected.start;
        let starts_line = start == 0 || self.text.as_bytes()[start - 1] == b'\n';
        // What was left out of a line that starts here belongs to it.
        let start = if starts_line { self.end(start) } else { self.start(start) };
        start..self.end(projected.end)
    }

    /// Finds where the character at a place of the projection starts in the text.
    pub(super) fn start(&self, projected: usize) -> usize {
        let before = self.steps.partition_point(|step| step.projected <= projected);
        let step = self.step_before(before);
        step.behind + (projected - step.projected)
    }

    /// Finds where the character before a place of the projection ends in the text.
    pub(super) fn end(&self, projected: usize) -> usize {
        let before = self.steps.partition_point(|step| step.projected < projected);
        match self.steps.get(before) {
            Some(step) if step.projected == projected => step.before,
            _ => {
                let step = self.step_before(before);
                step.behind + (projected - step.projected)
            }
        }
    }

    fn step_before(&self, index: usize) -> Step {
        index.checked_sub(1).and_then(|index| self.steps.get(index)).copied().unwrap_or_default()
    }

    /// Tells whether the character before a place of the text is left out.
    pub(super) fn leaves_out_before(&self, place: usize) -> bool {
        place > 0 && self.projected(place) == self.projected(place - 1)
    }

    /// Finds where a place of the text is in the projection; what is left out is where it would be.
    pub(super) fn projected(&self, place: usize) -> usize {
        let before = self.steps.partition_point(|step| step.behind <= place);
        let step = self.step_before(before);
        let most = self.steps.get(before).map_or(self.text.len(), |step| step.projected);
        (step.projected + (place - step.behind)).min(most)
    }
}

fn has_trailing_blanks(text: &str) -> bool {
    text.ends_with([' ', '\t']) || text.contains(" \n") || text.contains("\t\n")
}

fn trimmed(line: &str) -> usize {
    line.trim_end_matches([' ', '\t']).len()
}

/// Gives the plain character for one that is often written in its place.
fn folded(character: char) -> char {
    match character {
        '‘' | '’' | '‚' | '‛' | '′' | 'ʼ' => '\'',
        '“' | '”' | '„' | '‟' | '″' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Blind, Projection};
    use proptest::prelude::*;

    const ALL: Blind = Blind { trailing: true, punctuation: true };

    #[test]
    fn leaves_out_what_makes_no_difference() {
        let text = "a \t\r\n“b”...c\rd\u{a0}—\n";
        assert_eq!(Projection::new(text, ALL).text, "a\n\"b\"…c\nd -\n");
        let ends = Blind { trailing: false, punctuation: false };
        assert_eq!(Projection::new(text, ends).text, "a \t\n“b”...c\nd\u{a0}—\n");
    }

    #[test]
    fn a_place_at_the_end_of_a_line_is_before_what_is_left_out_there() {
        let text = "ab  \r\ncd\r\n";
        let projection = Projection::new(text, ALL);
        assert_eq!(projection.text, "ab\ncd\n");
        let found = |range| &text[projection.place(&range)];
        assert_eq!(
            (found(0..2), found(0..3), found(2..3), found(3..6)),
            ("ab", "ab  \r\n", "\r\n", "cd\r\n")
        );
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|at| projection.projected(at)), [0, 1, 2, 2, 2, 3, 3, 4]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_same_text_is_behind_every_part(text in "[ab \t\r\n“…—.é\u{a0}]{0,40}", from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
            let projection = Projection::new(&text, ALL);
            let mut ends = [from.index(projection.text.len() + 1), to.index(projection.text.len() + 1)];
            ends.sort_unstable();
            let ends = ends.map(|end| projection.text.floor_char_boundary(end));
            let part = &projection.text[ends[0]..ends[1]];
            let place = projection.place(&(ends[0]..ends[1]));
            let again = Projection::new(&text[place], Blind { trailing: false, punctuation: true });
            let solid = |text: &str| text.replace([' ', '\t', '\n'], "");
            prop_assert_eq!(solid(&again.text), solid(part));
        }

        #[test]
        fn a_text_is_projected_alike_wherever_it_stands(text in "[ab \r\n“—.]{0,20}") {
            let whole = format!("x\n{text}\ny");
            let (whole, alone) = (Projection::new(&whole, ALL), Projection::new(&text, ALL));
            prop_assert!(whole.text.contains(&*alone.text));
        }
    }
}
