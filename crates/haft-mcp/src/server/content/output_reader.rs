use super::output_address::{Astray, OutputAddress, Part};
use haft_tools_core::{CallScope, OutputError, OutputStore};

/// The most bytes of an output that are given at once; the address of what follows is given with them.
const MOST_BYTES: usize = 256 << 10;

/// How many bytes are read at once to find a line.
const PIECE: u64 = 64 << 10;

/// Is a part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputPart {
    /// Which part it is: where more was asked for than is given at once, what is given.
    pub(super) uri: String,
    pub(super) text: String,
    /// Where it goes on, if what was asked for does.
    pub(super) next: Option<String>,
    pub(super) total_bytes: u64,
    pub(super) total_lines: u64,
}

/// Says why an output is not given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unread {
    /// There is none for whoever asks; nothing more is said, or it could be found out what others have.
    #[error("there is no such resource")]
    Unknown,
    #[error("the output is no longer kept; make the call again")]
    Gone,
    #[error("write `?lines=A-B` with A from 1, or `?bytes=A-B` with A from 0")]
    Part,
    #[error("the output has {lines} lines and {bytes} bytes; ask for some of these")]
    Beyond { lines: u64, bytes: u64 },
    #[error("the output cannot be read now")]
    Failed,
}

/// Reads a part of an output of a caller's own run.
///
/// # Cancel safety
///
/// Reading changes nothing.
pub(super) async fn read(
    uri: &str,
    scope: &CallScope,
    outputs: Option<&dyn OutputStore>,
) -> Result<OutputPart, Unread> {
    let address = OutputAddress::read(uri).map_err(|astray| match astray {
        Astray::Foreign => Unread::Unknown,
        Astray::Part => Unread::Part,
    })?;
    let outputs = outputs.filter(|_| address.run == *scope.run()).ok_or(Unread::Unknown)?;
    let reader = Reader { address, scope, outputs };
    match reader.address.part {
        Part::Whole => reader.bytes(0, None).await,
        Part::Bytes(first, last) => reader.bytes(first, last).await,
        Part::Lines(first, last) => reader.lines(first, last).await,
    }
}

struct Reader<'a> {
    address: OutputAddress,
    scope: &'a CallScope,
    outputs: &'a dyn OutputStore,
}

impl Reader<'_> {
    async fn piece(&self, from: u64, most: u64) -> Result<haft_tools_core::OutputChunk, Unread> {
        let range = from..from.saturating_add(most);
        self.outputs.read(self.scope, &self.address.output, range).await.map_err(|error| match error {
            OutputError::Unknown { .. } => Unread::Unknown,
            OutputError::Evicted { .. } => Unread::Gone,
            error => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a stored output cannot be read");
                Unread::Failed
            }
        })
    }

    /// Gives the characters that begin in a range of bytes.
    async fn bytes(&self, first: u64, last: Option<u64>) -> Result<OutputPart, Unread> {
        let wanted = last.map_or(u64::MAX, |last| (last - first).saturating_add(1));
        let most = wanted.min(MOST_BYTES as u64);
        // A character that begins in the range has at most three bytes behind it.
        let chunk = self.piece(first, most + 3).await?;
        let (total_bytes, total_lines) = (chunk.total_bytes, chunk.total_lines);
        if first >= total_bytes && !(first == 0 && total_bytes == 0) {
            return Err(Unread::Beyond { lines: total_lines, bytes: total_bytes });
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(chunk.bytes.len());
        let start = boundary(&chunk.bytes, 0);
        let end = boundary(&chunk.bytes, most).max(start);
        let text = String::from_utf8_lossy(&chunk.bytes[start..end]).into_owned();
        let (from, to) = (first + start as u64, first + end as u64);
        let is_all = to >= total_bytes || last.is_some_and(|last| to > last);
        let given = Part::Bytes(from, Some(to.saturating_sub(1).max(from)));
        let uri = if from == 0 && to >= total_bytes { Part::Whole } else { given };
        Ok(OutputPart {
            uri: self.address.with(uri).to_string(),
            text,
            next: (!is_all).then(|| self.address.with(Part::Bytes(to, last)).to_string()),
            total_bytes,
            total_lines,
        })
    }

    /// Gives whole lines, or of one that is too long the beginning.
    async fn lines(&self, first: u64, last: Option<u64>) -> Result<OutputPart, Unread> {
        let wanted = last.map_or(u64::MAX, |last| (last - first).saturating_add(1));
        let (mut at, mut to_skip) = (0, first - 1);
        let (mut kept, mut lines) = (Vec::new(), 0_u64);
        let mut start = 0;
        let (total_bytes, total_lines) = loop {
            let chunk = self.piece(at, PIECE).await?;
            if first > chunk.total_lines {
                return Err(Unread::Beyond { lines: chunk.total_lines, bytes: chunk.total_bytes });
            }
            let mut rest = &chunk.bytes[..];
            while to_skip > 0 {
                let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                    rest = &[];
                    break;
                };
                (rest, to_skip) = (&rest[end + 1..], to_skip - 1);
            }
            if to_skip == 0 && kept.is_empty() {
                start = at + (chunk.bytes.len() - rest.len()) as u64;
            }
            while to_skip == 0 && lines < wanted && !rest.is_empty() {
                let end = rest.iter().position(|byte| *byte == b'\n');
                let line;
                (line, rest) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
                kept.extend_from_slice(line);
                lines += u64::from(end.is_some());
            }
            at += chunk.bytes.len() as u64;
            if chunk.bytes.is_empty() || at >= chunk.total_bytes || lines >= wanted || kept.len() > MOST_BYTES
            {
                break (chunk.total_bytes, chunk.total_lines);
            }
        };
        if kept.len() > MOST_BYTES {
            let Some(end) = kept[..MOST_BYTES].iter().rposition(|byte| *byte == b'\n') else {
                return self.bytes(start, Some(start + MOST_BYTES as u64 - 1)).await.map(|part| OutputPart {
                    next: Some(
                        self.address.with(Part::Bytes(start + part.text.len() as u64, None)).to_string(),
                    ),
                    ..part
                });
            };
            kept.truncate(end + 1);
            lines = kept.split(|byte| *byte == b'\n').skip(1).count() as u64;
        } else if !kept.ends_with(b"\n") {
            // The last line has no end.
            lines += 1;
        }
        let given = first + lines.max(1) - 1;
        let is_all = given >= total_lines || last.is_some_and(|last| given >= last);
        Ok(OutputPart {
            uri: self.address.with(Part::Lines(first, Some(given))).to_string(),
            text: String::from_utf8_lossy(&kept).into_owned(),
            next: (!is_all).then(|| self.address.with(Part::Lines(given + 1, last)).to_string()),
            total_bytes,
            total_lines,
        })
    }
}

/// Finds the first place from this one on at which a character begins.
fn boundary(bytes: &[u8], from: usize) -> usize {
    let begins = |byte: u8| byte & 0b1100_0000 != 0b1000_0000;
    bytes[from..].iter().position(|byte| begins(*byte)).map_or(bytes.len(), |place| from + place)
}
