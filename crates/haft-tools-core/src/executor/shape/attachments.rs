use crate::Limits;
use haft_core::{Content, Visible};
use std::fmt::Write as _;

/// How many parts beside texts and JSON a reply has at most: Anthropic's API takes 100 images in one request.
const MOST_PARTS: usize = 100;

/// How many bytes addresses, names and media types have together: as many as texts have by default.
const MOST_ADDRESS_BYTES: usize = 32 * 1024;

/// How many of the parts that are left out are named.
const MOST_NAMED: usize = 3;

/// How many bytes of a media type are repeated.
const MOST_TYPE: usize = 40;

/// Counts parts beside texts and JSON.
#[derive(Default)]
struct Count {
    parts: usize,
    media: usize,
    addresses: usize,
}

impl Count {
    /// Takes a part into account, if it still fits.
    fn admit(&mut self, part: &Content, limits: &Limits) -> bool {
        let (media, addresses) = match part {
            Content::Text { .. } | Content::Json { .. } => return true,
            Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
                (data.as_bytes().len(), mime_type.len())
            }
            Content::Resource { uri, mime_type, data, .. } => (
                data.as_ref().map_or(0, |data| data.as_bytes().len()),
                uri.len() + mime_type.as_ref().map_or(0, String::len),
            ),
            Content::ResourceLink { uri, name, mime_type, .. } => {
                (0, uri.len() + name.len() + mime_type.as_ref().map_or(0, String::len))
            }
            other => (0, other.size_bytes()),
        };
        let fits = self.parts < MOST_PARTS
            && media <= limits.media_bytes.saturating_sub(self.media)
            && addresses <= MOST_ADDRESS_BYTES.saturating_sub(self.addresses);
        if fits {
            self.parts += 1;
            self.media += media;
            self.addresses += addresses;
        }
        fits
    }
}

pub(super) fn fit(parts: &[Content], limits: &Limits) -> bool {
    let mut count = Count::default();
    parts.iter().all(|part| count.admit(part, limits))
}

/// Tells of parts that were left out because they are too many or too large.
#[derive(Default)]
pub(super) struct LeftOut {
    named: Vec<String>,
    parts: usize,
    bytes: u64,
}

/// Leaves out parts that are too many or too large, which are not stored; those that come later can still fit, and texts stay.
pub(super) fn cut(parts: &mut Vec<Content>, limits: &Limits) -> Option<LeftOut> {
    let (mut count, mut left_out) = (Count::default(), LeftOut::default());
    parts.retain_mut(|part| {
        if count.admit(part, limits) {
            return true;
        }
        let text = match part {
            Content::Resource { text, .. } => text.take(),
            _ => None,
        };
        left_out.add(part);
        // The text of a document is bounded, and stored, with all other text.
        text.map(|text| *part = Content::Text { text }).is_some()
    });
    (left_out.parts > 0).then_some(left_out)
}

impl LeftOut {
    fn add(&mut self, part: &Content) {
        self.parts += 1;
        self.bytes += part.size_bytes() as u64;
        if self.named.len() == MOST_NAMED {
            return;
        }
        let (kind, mime_type) = match part {
            Content::Image { mime_type, .. } => ("image", Some(mime_type)),
            Content::Audio { mime_type, .. } => ("audio", Some(mime_type)),
            Content::Resource { mime_type, .. } => ("document", mime_type.as_ref()),
            Content::ResourceLink { mime_type, .. } => ("link", mime_type.as_ref()),
            _ => ("part", None),
        };
        let mut name = kind.to_owned();
        if let Some(mime_type) = mime_type {
            let end = mime_type.floor_char_boundary(MOST_TYPE);
            // Writing to a string cannot fail.
            let _ = write!(name, " {}", Visible::line(&mime_type[..end]));
        }
        let _ = write!(name, " of {} bytes", part.size_bytes());
        self.named.push(name);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Says what was left out, and why.
    pub(super) fn note(&self, limits: &Limits) -> String {
        let mut named = self.named.join(", ");
        if self.parts > self.named.len() {
            let _ = write!(named, " and {} more", self.parts - self.named.len());
        }
        format!(
            "[left out and not kept: {named}; a reply has at most {MOST_PARTS} such parts with {} bytes of media and \
             {MOST_ADDRESS_BYTES} bytes of addresses, so ask for fewer or smaller ones]",
            limits.media_bytes
        )
    }
}
