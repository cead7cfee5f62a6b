use super::lexer::Part;

/// How many patterns the alternatives in one may make.
const MOST: usize = 64;

/// Writes out what alternatives stand for; `None` where it is too much.
pub(super) fn expand(parts: &[Part]) -> Option<Vec<Vec<&Part>>> {
    let mut texts = vec![Vec::new()];
    for part in parts {
        let Part::Alternatives(alternatives) = part else {
            for text in &mut texts {
                text.push(part);
            }
            continue;
        };
        let mut longer = Vec::new();
        for alternative in alternatives {
            for ending in expand(alternative)? {
                longer.extend(texts.iter().map(|text| [text.as_slice(), ending.as_slice()].concat()));
                if longer.len() > MOST {
                    return None;
                }
            }
        }
        texts = longer;
    }
    Some(texts)
}
