use crate::encoding::TextEncoding;
use encoding_rs::Decoder;
use std::fs::File;
use std::io::{self, Cursor, Read as _, Seek as _, SeekFrom};

/// How many bytes are read at once.
pub(super) const BUFFER_BYTES: usize = 64 * 1024;

/// Where the bytes of a file are.
pub(super) enum Source {
    File(File),
    /// In memory, where all of them are.
    Memory(Cursor<Vec<u8>>),
}

impl From<File> for Source {
    fn from(file: File) -> Self {
        Self::File(file)
    }
}

impl From<Vec<u8>> for Source {
    fn from(content: Vec<u8>) -> Self {
        Self::Memory(Cursor::new(content))
    }
}

impl Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Memory(content) => content.read(buffer),
        }
    }

    fn seek(&mut self, place: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.seek(SeekFrom::Start(place)).map(drop),
            Self::Memory(content) => content.seek(SeekFrom::Start(place)).map(drop),
        }
    }
}

/// Gives the bytes of a file in turn, full buffers except for the last; those of UTF-16 as UTF-8.
pub(super) struct Chunks {
    source: Source,
    /// How much of the file counts.
    most: u64,
    left: u64,
    buffer: Vec<u8>,
    /// How what is read has to be decoded, and what it came to.
    decoder: Option<(Decoder, Vec<u8>)>,
}

impl Chunks {
    pub(super) fn new(source: Source, most: u64) -> Self {
        let room = usize::try_from(most).map_or(BUFFER_BYTES, |most| most.min(BUFFER_BYTES));
        Self { source, most, left: most, buffer: vec![0; room], decoder: None }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let room = self.buffer.len();
        let wanted = usize::try_from(self.left).map_or(room, |left| left.min(room));
        let mut filled = 0;
        while filled < wanted {
            match self.source.read(&mut self.buffer[filled..wanted]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        // A short buffer is the end, even if more is written by now.
        self.left = if filled < wanted { 0 } else { self.left - filled as u64 };
        if filled == 0 {
            return Ok(None);
        }
        let read = &self.buffer[..filled];
        let Some((decoder, text)) = &mut self.decoder else {
            return Ok(Some(read));
        };
        let (_, _, written, _) = decoder.decode_to_utf8(read, text, self.left == 0);
        Ok(Some(&text[..written]))
    }

    /// Goes back to the start, behind the byte order mark of UTF-16.
    pub(super) fn rewind(&mut self, encoding: TextEncoding) -> io::Result<()> {
        self.seek(0, encoding)
    }

    /// Goes to a place of the file; in UTF-16 only to its start.
    pub(super) fn seek(&mut self, place: u64, encoding: TextEncoding) -> io::Result<()> {
        self.decoder = None;
        let mut place = place;
        if let TextEncoding::Utf16 { little, .. } = encoding {
            place += encoding.mark().len() as u64;
            let encoding = if little { encoding_rs::UTF_16LE } else { encoding_rs::UTF_16BE };
            let decoder = encoding.new_decoder_without_bom_handling();
            let room = decoder.max_utf8_buffer_length(self.buffer.len()).unwrap_or(4 * BUFFER_BYTES);
            self.decoder = Some((decoder, vec![0; room]));
        }
        self.left = self.most.saturating_sub(place);
        self.source.seek(place)
    }
}
