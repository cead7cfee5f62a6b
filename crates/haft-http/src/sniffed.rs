/// Says what bytes are by how they begin, whatever is said of them.
///
/// ```
/// use haft_http::Sniffed;
///
/// assert_eq!(Sniffed::of(b"GIF89a"), Some(Sniffed::Image("image/gif")));
/// assert_eq!(Sniffed::of(b"{}"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sniffed {
    /// An image of this type: PNG, JPEG, GIF or WebP.
    Image(&'static str),
    /// A sound of this type: WAV, MP3 with tags, Ogg or FLAC.
    Audio(&'static str),
}

impl Sniffed {
    /// Looks at the first bytes; gives nothing for what is neither an image nor a sound that it knows.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let begins = |start: &[u8]| bytes.starts_with(start);
        let has = |at: usize, part: &[u8]| bytes.get(at..at + part.len()) == Some(part);
        if begins(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Image("image/png"))
        } else if begins(b"\xff\xd8\xff") {
            Some(Self::Image("image/jpeg"))
        } else if begins(b"GIF87a") || begins(b"GIF89a") {
            Some(Self::Image("image/gif"))
        } else if begins(b"RIFF") && has(8, b"WEBP") {
            Some(Self::Image("image/webp"))
        } else if begins(b"RIFF") && has(8, b"WAVE") {
            Some(Self::Audio("audio/wav"))
        } else if begins(b"ID3") {
            Some(Self::Audio("audio/mpeg"))
        } else if begins(b"OggS") {
            Some(Self::Audio("audio/ogg"))
        } else if begins(b"fLaC") {
            Some(Self::Audio("audio/flac"))
        } else {
            None
        }
    }
}
