//! What names the content of a file in a reply.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// How many bytes of the hash are written: enough to tell the contents of one file apart.
const SHOWN_BYTES: usize = 6;

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
    use super::digest;

    #[test]
    fn does_not_depend_on_the_parts() {
        assert_eq!(digest(&[b"ab", b"", b"c"]), "sha256:ba7816bf8f01");
        assert_eq!(digest(&[b"abc"]), digest(&[b"ab", b"c"]));
    }
}
