use crate::CallScope;
use crate::output::{OutputError, OutputStore};
use bytes::Bytes;
use haft_core::OutputId;

/// How many bytes are read at once.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Reads a stored output from its beginning to its end, a bounded piece at a time.
pub(super) struct Pieces<'a> {
    store: &'a dyn OutputStore,
    scope: &'a CallScope,
    output: &'a OutputId,
    /// What was read and not given yet.
    ahead: Bytes,
    /// Where the next piece that is read begins.
    at: u64,
    pub(super) total_bytes: u64,
    pub(super) total_lines: u64,
}

impl<'a> Pieces<'a> {
    pub(super) async fn open(
        store: &'a dyn OutputStore,
        scope: &'a CallScope,
        output: &'a OutputId,
    ) -> Result<Self, OutputError> {
        let chunk = store.read(scope, output, 0..CHUNK_BYTES).await?;
        let (at, total_bytes, total_lines) = (chunk.bytes.len() as u64, chunk.total_bytes, chunk.total_lines);
        Ok(Self { store, scope, output, ahead: chunk.bytes, at, total_bytes, total_lines })
    }

    /// Gives the next bytes; nothing at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, OutputError> {
        if self.ahead.is_empty() {
            if self.at >= self.total_bytes {
                return Ok(None);
            }
            // A store that always has an answer at once would else hold up everything in the same thread.
            tokio::task::yield_now().await;
            let range = self.at..self.at.saturating_add(CHUNK_BYTES);
            self.ahead = self.store.read(self.scope, self.output, range).await?.bytes;
            self.at += self.ahead.len() as u64;
        }
        Ok(Some(std::mem::take(&mut self.ahead)).filter(|piece| !piece.is_empty()))
    }

    /// Passes over this many lines, or to the end.
    pub(super) async fn skip_lines(&mut self, mut lines: u64) -> Result<(), OutputError> {
        while lines > 0 {
            let Some(mut piece) = self.next().await? else { return Ok(()) };
            let newlines = memchr::memchr_iter(b'\n', &piece).count() as u64;
            if newlines < lines {
                lines -= newlines;
                continue;
            }
            let nth = usize::try_from(lines - 1).unwrap_or(usize::MAX);
            let end = memchr::memchr_iter(b'\n', &piece).nth(nth).map_or(piece.len(), |newline| newline + 1);
            self.ahead = piece.split_off(end);
            return Ok(());
        }
        Ok(())
    }
}
