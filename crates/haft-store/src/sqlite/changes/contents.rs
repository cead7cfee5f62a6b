//! What was in files, in pieces, so that writing and reading one takes no memory beside what the caller holds.

use super::super::Trouble;
use crate::written::{integer, number};
use rusqlite::{Connection, OptionalExtension as _, params};

/// How many bytes a piece has, but for the last. SQLite holds a piece two times over while it writes it.
const PIECE_BYTES: usize = 256 * 1024;

/// Keeps a content that is given in parts, unless it is kept already.
pub(super) fn keep(connection: &Connection, digest: &str, parts: &[&[u8]]) -> Result<(), Trouble> {
    let is_kept: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM content WHERE digest = ?1)")?
        .query_row([digest], |row| row.get(0))?;
    if is_kept {
        return Ok(());
    }
    let size: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let mut pieces = Pieces { parts, first: &[] };
    let mut piece =
        Vec::with_capacity(usize::try_from(size).map_or(PIECE_BYTES, |size| size.min(PIECE_BYTES)));
    pieces.next_into(&mut piece);
    connection.execute(
        "INSERT INTO content (digest, size, bytes) VALUES (?1, ?2, ?3)",
        params![digest, integer(size), piece],
    )?;
    let mut further =
        connection.prepare_cached("INSERT INTO content_piece (digest, number, bytes) VALUES (?1, ?2, ?3)")?;
    for number in 1_i64.. {
        pieces.next_into(&mut piece);
        if piece.is_empty() {
            break;
        }
        further.execute(params![digest, number, piece])?;
    }
    Ok(())
}

/// Reads a content, if it is kept.
pub(super) fn read(connection: &Connection, digest: &str) -> Result<Option<Vec<u8>>, Trouble> {
    let first = connection
        .prepare_cached("SELECT size, bytes FROM content WHERE digest = ?1")?
        .query_row([digest], |row| {
            let first = row.get_ref(1)?.as_blob()?;
            let size = usize::try_from(number(row.get(0)?)).unwrap_or_default();
            let mut bytes = Vec::new();
            // Where there is no room for so many, since the size is not true, it is asked for as they come.
            let _ = bytes.try_reserve_exact(size);
            bytes.extend_from_slice(first);
            Ok(bytes)
        })
        .optional()?;
    let Some(mut bytes) = first else { return Ok(None) };
    let mut further =
        connection.prepare_cached("SELECT bytes FROM content_piece WHERE digest = ?1 ORDER BY number")?;
    let mut further = further.query([digest])?;
    while let Some(row) = further.next()? {
        bytes.extend_from_slice(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?);
    }
    Ok(Some(bytes))
}

/// What is left of parts that come one behind the other.
struct Pieces<'a> {
    parts: &'a [&'a [u8]],
    first: &'a [u8],
}

impl Pieces<'_> {
    /// Puts the next piece in the place of the one before; nothing at the end.
    fn next_into(&mut self, piece: &mut Vec<u8>) {
        piece.clear();
        while piece.len() < PIECE_BYTES {
            if self.first.is_empty() {
                let Some((first, parts)) = self.parts.split_first() else { return };
                (self.first, self.parts) = (first, parts);
            }
            let (taken, left) = self.first.split_at(self.first.len().min(PIECE_BYTES - piece.len()));
            piece.extend_from_slice(taken);
            self.first = left;
        }
    }
}
