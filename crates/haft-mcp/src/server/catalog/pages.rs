use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::cmp::Ordering;
use std::sync::Arc;

/// The most things of one page, and the most bytes of what they say; one alone that has more is a page of its own.
const MOST_ITEMS: usize = 500;
const MOST_BYTES: usize = 1 << 20;

/// The bytes of a list's mark, and of a place in it.
const MARK_BYTES: usize = 8;
const PLACE_BYTES: usize = 4;

/// A list in pages, which are there to be handed out.
///
/// A cursor holds a mark of the whole list, so that it leads on in this list alone: in any instance that has the same one,
/// and nowhere once it has become another.
#[derive(Debug, Clone)]
pub(crate) struct Pages<T> {
    mark: [u8; MARK_BYTES],
    pages: Vec<Arc<[T]>>,
}

/// One page, with the cursor of the next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Page<T> {
    pub(crate) items: Arc<[T]>,
    pub(crate) next: Option<String>,
}

/// Says that a cursor does not lead on: it is of another list, or of none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not of the list as it is now; list again from the beginning")]
pub(crate) struct StaleCursor;

impl<T> Pages<T> {
    /// Puts things into pages, in their order; `say` says all that is listed of one.
    pub(crate) fn of(items: Vec<T>, say: impl Fn(&T) -> String) -> Self {
        let mut hash = Sha256::new();
        let mut pages = Vec::new();
        let (mut page, mut bytes) = (Vec::new(), 0_usize);
        for item in items {
            let said = say(&item);
            hash.update((said.len() as u64).to_be_bytes());
            hash.update(&said);
            if page.len() == MOST_ITEMS || !page.is_empty() && bytes + said.len() > MOST_BYTES {
                pages.push(Arc::from(std::mem::take(&mut page)));
                bytes = 0;
            }
            bytes += said.len();
            page.push(item);
        }
        if !page.is_empty() || pages.is_empty() {
            pages.push(page.into());
        }
        let mut mark = [0; MARK_BYTES];
        mark.copy_from_slice(&hash.finalize()[..MARK_BYTES]);
        Self { mark, pages }
    }

    /// Makes something else of each thing, in the same pages under the same cursors.
    pub(crate) fn map<U>(&self, make: impl Fn(&T) -> U) -> Pages<U> {
        let pages = self.pages.iter().map(|page| page.iter().map(&make).collect()).collect();
        Pages { mark: self.mark, pages }
    }

    /// Makes one thing of each page, under the same cursors.
    pub(crate) fn whole<U>(&self, make: impl Fn(&[T]) -> U) -> Pages<U> {
        let pages = self.pages.iter().map(|page| Arc::from([make(page)])).collect();
        Pages { mark: self.mark, pages }
    }

    /// Gives the page that a cursor leads to, or the first; costs a reference count and the next cursor.
    pub(crate) fn at(&self, cursor: Option<&str>) -> Result<Page<T>, StaleCursor> {
        let place = match cursor {
            None => 0,
            Some(cursor) => self.place(cursor).ok_or(StaleCursor)?,
        };
        let items = self.pages.get(place).map(Arc::clone).ok_or(StaleCursor)?;
        let next = (place + 1 < self.pages.len()).then(|| self.cursor(place + 1));
        Ok(Page { items, next })
    }

    /// Iterates over the things of all pages.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flat_map(|page| page.iter())
    }

    /// Finds a thing in a list that is in the order in which it is looked for.
    pub(crate) fn find(&self, order: impl Fn(&T) -> Ordering) -> Option<&T> {
        let place = self.pages.partition_point(|page| page.last().is_some_and(|last| order(last).is_lt()));
        let page = self.pages.get(place)?;
        page.binary_search_by(order).ok().map(|place| &page[place])
    }

    fn cursor(&self, place: usize) -> String {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        let mut bytes = [0; MARK_BYTES + PLACE_BYTES];
        bytes[..MARK_BYTES].copy_from_slice(&self.mark);
        bytes[MARK_BYTES..].copy_from_slice(&place.to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn place(&self, cursor: &str) -> Option<usize> {
        let mut bytes = [0; MARK_BYTES + PLACE_BYTES];
        // What is longer than a cursor does not fit, and costs nothing.
        let length = URL_SAFE_NO_PAD.decode_slice(cursor, &mut bytes).ok()?;
        let (mark, place) = bytes.split_at(MARK_BYTES);
        let is_ours = length == bytes.len() && mark == self.mark;
        is_ours.then_some(u32::from_be_bytes(place.try_into().ok()?) as usize)
    }
}
