//! What a message holds, as pieces that a wire format can carry or that say what it cannot.

#[cfg(any(feature = "genai", feature = "openai"))]
use crate::names::written_id;
#[cfg(any(feature = "genai", feature = "openai"))]
use haft_core::ToolReply;
use haft_core::{Blob, Content, Visible};

/// How much of an address or a name is shown in a note, in characters.
const MOST_SHOWN: usize = 200;

/// One piece of what a message holds.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    Text(String),
    Image { mime_type: &'static str, data: &'a Blob },
    Pdf { name: String, data: &'a Blob },
    Sound { format: &'static str, data: &'a Blob },
}

/// Which pieces besides text can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Takes {
    pub(crate) images: bool,
    pub(crate) documents: bool,
    pub(crate) sounds: bool,
}

impl Piece<'_> {
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// Says what it is, in words.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Text(_) => "text".to_owned(),
            Self::Image { mime_type, data } => label("image", mime_type, data),
            Self::Pdf { name, data } => label(&format!("document {name}"), "application/pdf", data),
            Self::Sound { format, data } => label("sound", format, data),
        }
    }
}

/// Takes contents apart; what cannot be sent becomes a note that says so.
pub(crate) fn pieces(contents: &[Content], takes: Takes) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for content in contents {
        add(content, takes, &mut pieces);
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    pieces
}

/// Joins the text of pieces, one piece a line.
#[cfg(feature = "openai")]
pub(crate) fn joined(pieces: &[Piece<'_>]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Writes the reply to a call where it is one text; pieces that are none go to `shown`, with a word on whose they are.
#[cfg(any(feature = "genai", feature = "openai"))]
pub(crate) fn reply_text<'a>(
    reply: &'a ToolReply,
    takes: Takes,
    mut shown: impl FnMut(String, Piece<'a>),
) -> String {
    let mut lines = Vec::new();
    if !reply.status.is_ok() {
        lines.push(format!("[{}]", reply.status));
    }
    for piece in pieces(&reply.output.content, takes) {
        if let Piece::Text(text) = piece {
            lines.push(text);
        } else {
            lines.push(format!("[{}: shown after the replies]", piece.name()));
            let id = written_id(reply.call_id.as_str());
            shown(format!("[{} of the reply to {id}]", piece.name()), piece);
        }
    }
    lines.join("\n")
}

fn add<'a>(content: &'a Content, takes: Takes, pieces: &mut Vec<Piece<'a>>) {
    match content {
        Content::Text { text } => pieces.push(Piece::Text(text.clone())),
        Content::Json { value } => pieces.push(Piece::Text(value.to_string())),
        Content::Image { data, mime_type } => pieces.push(image(data, mime_type, takes)),
        Content::Audio { data, mime_type } => pieces.push(sound(data, mime_type, takes)),
        Content::Resource { uri, mime_type, text, data } => {
            let kind = mime_type.as_deref();
            let of_kind = kind.map(|kind| format!(", {}", shown(kind))).unwrap_or_default();
            let shown = shown(uri);
            match (text, data) {
                (Some(text), _) => pieces.push(Piece::Text(format!("[document {shown}{of_kind}]\n{text}"))),
                (None, None) => pieces.push(Piece::Text(format!("[document {shown}{of_kind}: empty]"))),
                (None, Some(_)) => {}
            }
            if let Some(data) = data {
                pieces.push(Piece::Text(format!("[document {shown}{of_kind}]")));
                pieces.push(binary(uri, kind.unwrap_or("application/octet-stream"), data, takes));
            }
        }
        Content::ResourceLink { uri, name, mime_type, size } => {
            let kind = mime_type.as_deref().map(|kind| format!(", {}", shown(kind))).unwrap_or_default();
            let size = size.map(|size| format!(", {size} bytes")).unwrap_or_default();
            pieces.push(Piece::Text(format!("[link {}: {}{kind}{size}]", shown(name), Visible::line(uri))));
        }
        other => pieces.push(Piece::Text(format!(
            "[{} bytes of a kind that cannot be shown to this model]",
            other.size_bytes()
        ))),
    }
}

fn binary<'a>(uri: &str, kind: &str, data: &'a Blob, takes: Takes) -> Piece<'a> {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/pdf" && takes.documents {
        let name = uri.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("document.pdf");
        return Piece::Pdf { name: shown(name), data };
    }
    match essence.split('/').next() {
        Some("image") => image(data, kind, takes),
        Some("audio") => sound(data, kind, takes),
        _ => unseen("document", kind, data),
    }
}

fn image<'a>(data: &'a Blob, kind: &str, takes: Takes) -> Piece<'a> {
    let mime_type = match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "image/png" => "image/png",
        "image/jpeg" | "image/jpg" => "image/jpeg",
        "image/gif" => "image/gif",
        "image/webp" => "image/webp",
        _ => return unseen("image", kind, data),
    };
    if takes.images { Piece::Image { mime_type, data } } else { unseen("image", kind, data) }
}

fn sound<'a>(data: &'a Blob, kind: &str, takes: Takes) -> Piece<'a> {
    let format = match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        _ => return unseen("sound", kind, data),
    };
    if takes.sounds { Piece::Sound { format, data } } else { unseen("sound", kind, data) }
}

/// Says that something is there and not shown.
fn unseen<'a>(what: &str, kind: &str, data: &Blob) -> Piece<'a> {
    let mut note = label(what, &shown(kind), data);
    note.insert(0, '[');
    note.push_str(": not shown, since this model cannot read it]");
    Piece::Text(note)
}

fn label(what: &str, kind: &str, data: &Blob) -> String {
    format!("{what}, {kind}, {} bytes", data.as_bytes().len())
}

fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(MOST_SHOWN).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    Visible::line(&short).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const ALL: Takes = Takes { images: true, documents: true, sounds: true };

    fn check(content: Content, takes: Takes, expected: &Expect) {
        let contents = [content];
        let shown: Vec<String> = pieces(&contents, takes)
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                other => format!("<{}>", other.name()),
            })
            .collect();
        expected.assert_eq(&shown.join("\n"));
    }

    fn resource(mime_type: &str) -> Content {
        Content::Resource {
            uri: "file:///notes/a.pdf".into(),
            mime_type: Some(mime_type.into()),
            text: None,
            data: Some(vec![1, 2].into()),
        }
    }

    #[test]
    fn sends_what_can_be_sent() {
        check(Content::image(vec![1], "image/JPG"), ALL, &expect!["<image, image/jpeg, 1 bytes>"]);
        check(Content::audio(vec![1], "audio/mpeg"), ALL, &expect!["<sound, mp3, 1 bytes>"]);
        check(
            resource("application/pdf"),
            ALL,
            &expect![[r"
                [document file:///notes/a.pdf, application/pdf]
                <document a.pdf, application/pdf, 2 bytes>"]],
        );
    }

    #[test]
    fn says_what_cannot_be_sent() {
        let nothing = Takes::default();
        check(
            Content::image(vec![1], "image/png"),
            nothing,
            &expect!["[image, image/png, 1 bytes: not shown, since this model cannot read it]"],
        );
        check(
            Content::image(vec![1], "image/svg+xml"),
            ALL,
            &expect!["[image, image/svg+xml, 1 bytes: not shown, since this model cannot read it]"],
        );
        check(
            resource("application/zip"),
            ALL,
            &expect![[r"
                [document file:///notes/a.pdf, application/zip]
                [document, application/zip, 2 bytes: not shown, since this model cannot read it]"]],
        );
        let link = Content::ResourceLink {
            uri: "https://example.org/a".into(),
            name: "two\nlines".into(),
            mime_type: None,
            size: Some(3),
        };
        check(link, nothing, &expect![r"[link two\nlines: https://example.org/a, 3 bytes]"]);
    }
}
