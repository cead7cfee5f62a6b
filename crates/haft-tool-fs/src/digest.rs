//! What names the content of a file in a reply.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::thread;

/// How many bytes of the hash are written: enough to tell the contents of one file apart.
const SHOWN_BYTES: usize = 6;

/// From how many bytes on a content is hashed on a thread of its own: that takes longer then than to start a thread.
const LARGE_BYTES: usize = 1024 * 1024;

/// Does something with a content and writes its digest, both at the same time if it is large.
pub(crate) fn digest_beside<T>(parts: &[&[u8]], work: impl FnOnce() -> T) -> (T, String) {
    let is_large = parts.iter().map(|part| part.len()).sum::<usize>() >= LARGE_BYTES;
    thread::scope(|scope| {
        let hashing = is_large
            .then(|| thread::Builder::new().spawn_scoped(scope, || digest(parts)))
            .and_then(Result::ok);
        let done = work();
        let digest = match hashing.map(thread::ScopedJoinHandle::join) {
            Some(hashed) => hashed.unwrap_or_else(|payload| resume_unwind(payload)),
            None => digest(parts),
        };
        (done, digest)
    })
}

/// Writes the digest of a content that is in parts: `sha256:6e340b9cffb3`.
pub(crate) fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    let mut text = "sha256:".to_owned();
    for byte in &hash.finalize()[..SHOWN_BYTES] {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{LARGE_BYTES, digest, digest_beside};

    #[test]
    fn does_not_depend_on_the_parts() {
        assert_eq!(digest(&[b"ab", b"", b"c"]), "sha256:ba7816bf8f01");
        assert_eq!(digest(&[b"abc"]), digest(&[b"ab", b"c"]));
    }

    #[test]
    fn is_the_same_beside_work() {
        for bytes in [0, 100, LARGE_BYTES, LARGE_BYTES + 1] {
            let content = vec![b'a'; bytes];
            let parts = content.split_at(bytes / 3);
            assert_eq!(digest_beside(&[parts.0, parts.1], || 7), (7, digest(&[&content])));
        }
    }
}
