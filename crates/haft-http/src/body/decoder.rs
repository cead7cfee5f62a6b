use bytes::Bytes;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::io::{self, BufRead, Read};

/// The most bytes that are decompressed at once.
const PIECE: usize = 16 * 1024;

/// Decompresses what it is fed, a bounded piece at a time.
pub(crate) struct Decoder {
    coding: Coding,
    /// Where a piece is made before its length is known.
    room: Box<[u8]>,
    is_fed: bool,
}

enum Coding {
    /// RFC 1952, one member or more.
    Gzip(Box<MultiGzDecoder<Feed>>),
    /// What HTTP calls `deflate`: RFC 1950.
    Zlib(Box<ZlibDecoder<Feed>>),
}

/// Is what was fed and not taken yet; it would have to be waited for what comes next.
#[derive(Default)]
struct Feed {
    piece: Bytes,
    is_whole: bool,
}

/// Is what a decoder has to say next.
pub(super) enum Step {
    Piece(Bytes),
    /// Nothing before it is fed.
    Hungry,
    End,
}

/// Says why an answer is not decompressed.
#[derive(Debug, thiserror::Error)]
#[error("its `Content-Encoding` is neither `gzip` nor `deflate`, or there are several")]
pub(crate) struct UnknownCoding;

impl Decoder {
    /// Finds what decompresses an answer with these headers, if it is compressed (RFC 9110, section 8.4).
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, UnknownCoding> {
        let mut found = None;
        for value in headers.get_all(CONTENT_ENCODING) {
            for name in value.to_str().map_err(|_| UnknownCoding)?.split(',') {
                let coding = match name.trim().to_ascii_lowercase().as_str() {
                    "" | "identity" => continue,
                    "gzip" | "x-gzip" => Coding::Gzip(Box::new(MultiGzDecoder::new(Feed::default()))),
                    "deflate" => Coding::Zlib(Box::new(ZlibDecoder::new(Feed::default()))),
                    _ => return Err(UnknownCoding),
                };
                if found.replace(coding).is_some() {
                    return Err(UnknownCoding);
                }
            }
        }
        Ok(found.map(|coding| Self { coding, room: vec![0; PIECE].into(), is_fed: false }))
    }

    /// Gives the next piece if it can be made of what was fed so far.
    pub(super) fn step(&mut self) -> io::Result<Step> {
        let is_whole = self.feed_mut().is_whole;
        // An answer to `HEAD`, or without content, is not even an empty file.
        if is_whole && !self.is_fed {
            return Ok(Step::End);
        }
        let read = match &mut self.coding {
            Coding::Gzip(decoder) => decoder.read(&mut self.room),
            Coding::Zlib(decoder) => decoder.read(&mut self.room),
        };
        match read {
            Ok(0) => Ok(Step::End),
            Ok(read) => Ok(Step::Piece(Bytes::copy_from_slice(&self.room[..read]))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Step::Hungry),
            Err(error) => Err(error),
        }
    }

    /// Takes the next piece that is compressed, or `None` after the last.
    pub(super) fn feed(&mut self, piece: Option<Bytes>) {
        self.is_fed |= piece.as_ref().is_some_and(|piece| !piece.is_empty());
        let feed = self.feed_mut();
        match piece {
            Some(piece) => feed.piece = piece,
            None => feed.is_whole = true,
        }
    }

    fn feed_mut(&mut self) -> &mut Feed {
        match &mut self.coding {
            Coding::Gzip(decoder) => decoder.get_mut(),
            Coding::Zlib(decoder) => decoder.get_mut(),
        }
    }
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.piece.is_empty() && !self.is_whole {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(&self.piece)
    }

    fn consume(&mut self, amount: usize) {
        self.piece = self.piece.split_off(amount.min(self.piece.len()));
    }
}

impl Read for Feed {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(room)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
