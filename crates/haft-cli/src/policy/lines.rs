use std::io::{self, BufRead};

/// The longest line that is read whole, in bytes; what is longer no tool takes.
pub(super) const MOST_BYTES: usize = 4 << 20;

/// Reads lines of a stream, none of which can fill the memory.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
}

/// Is one line without its end, or as much of it as is kept.
pub(super) struct Line<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: Vec::new() }
    }

    /// Tells whether a whole line is there already, so that reading it does not wait.
    pub(super) fn is_ready(&self) -> bool
    where
        R: Buffered,
    {
        self.input.buffered().contains(&b'\n')
    }

    /// Reads the next line; `None` at the end. What stands behind the last line end is a line, unless it is nothing.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let (mut is_whole, mut is_any) = (true, false);
        loop {
            let available = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            if available.is_empty() {
                break;
            }
            is_any = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let room = MOST_BYTES - self.line.len();
            is_whole &= part.len() <= room;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok(is_any.then_some(Line { bytes: &self.line, is_whole }))
    }
}

/// Knows what was read ahead.
pub(super) trait Buffered {
    fn buffered(&self) -> &[u8];
}

impl<R: io::Read> Buffered for io::BufReader<R> {
    fn buffered(&self) -> &[u8] {
        self.buffer()
    }
}
