use bytes::Bytes;
use memchr::memmem;
use std::sync::{Arc, OnceLock};

/// How an empty list of tools stands in an answer. In no text does it stand so: there each quote has a backslash before it.
const EMPTY: &[u8] = b"\"tools\":[]";

/// Takes a page of tools that is written already, for a way back to the client that puts it where the list is.
///
/// A list of a thousand tools is as large as all else that is answered in a minute, and it is the same for all who ask.
#[derive(Debug, Clone, Default)]
pub(super) struct WrittenPage(Arc<OnceLock<Bytes>>);

impl WrittenPage {
    /// Where the page is put, as it stands between the brackets of the list.
    pub(super) fn room(&self) -> &OnceLock<Bytes> {
        &self.0
    }

    /// Whether there is a page, so that the list in the answer is empty.
    pub(super) fn is_taken(&self) -> bool {
        self.0.get().is_some()
    }

    /// Puts the page into the empty list of an answer; `None` if that has none.
    pub(super) fn within(&self, answer: &[u8]) -> Option<Bytes> {
        let page = self.0.get()?;
        // Between the brackets.
        let place = memmem::find(answer, EMPTY)? + EMPTY.len() - 1;
        let (before, after) = answer.split_at(place);
        Some([before, page, after].concat().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: Option<&'static str>, answer: &str, expected: Option<&str>) {
        let written = WrittenPage::default();
        if let Some(page) = page {
            written.room().set(Bytes::from(page)).unwrap();
        }
        assert_eq!(written.is_taken(), page.is_some());
        assert_eq!(written.within(answer.as_bytes()).as_deref(), expected.map(str::as_bytes));
    }

    #[test]
    fn a_page_stands_where_the_list_is() {
        let tools = r#"{"name":"a"},{"name":"b"}"#;
        check(
            Some(tools),
            r#"{"id":"\"tools\":[]","result":{"tools":[],"ttlMs":1}}"#,
            Some(r#"{"id":"\"tools\":[]","result":{"tools":[{"name":"a"},{"name":"b"}],"ttlMs":1}}"#),
        );
        check(Some(""), r#"{"tools":[]}"#, Some(r#"{"tools":[]}"#));
    }

    #[test]
    fn an_answer_without_a_list_takes_none() {
        check(Some("{}"), r#"{"error":{}}"#, None);
        check(None, r#"{"tools":[]}"#, None);
    }
}
