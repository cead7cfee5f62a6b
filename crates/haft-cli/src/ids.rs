use crate::exit::UsageError;
use anyhow::Result;

/// How many ids are named of which one could be meant.
const MOST_SHOWN: usize = 5;

/// Finds the id that is written out or begins as written; gives `None` if there is none.
///
/// # Errors
///
/// When several begin so.
pub(crate) fn pick<'a>(written: &str, ids: &[&'a str], what: &str) -> Result<Option<&'a str>> {
    if let Some(id) = ids.iter().find(|id| **id == written) {
        return Ok(Some(id));
    }
    let found: Vec<&str> =
        ids.iter().copied().filter(|id| !written.is_empty() && id.starts_with(written)).collect();
    match found.as_slice() {
        [] => Ok(None),
        [id] => Ok(Some(id)),
        several => {
            let shown = &several[..several.len().min(MOST_SHOWN)];
            let more = match several.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let shown = shown.join(", ");
            let message = format!("several {what}s begin with `{written}`: {shown}{more}; write more of it");
            Err(UsageError(message).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pick;

    #[test]
    fn takes_whole_ids_and_beginnings_that_one_has() {
        let found =
            |written| pick(written, &["ab", "abc", "xyz"], "grant").map_err(|error| error.to_string());
        assert_eq!(found("ab"), Ok(Some("ab")));
        assert_eq!(found("x"), Ok(Some("xyz")));
        assert_eq!(found("q"), Ok(None));
        assert_eq!(found(""), Ok(None));
        assert_eq!(found("a"), Err("several grants begin with `a`: ab, abc; write more of it".to_owned()));
        let several = pick("a", &["a1", "a2", "a3", "a4", "a5", "a6", "a7"], "run").unwrap_err();
        let told = "several runs begin with `a`: a1, a2, a3, a4, a5 and 2 more; write more of it";
        assert_eq!(several.to_string(), told);
    }
}
