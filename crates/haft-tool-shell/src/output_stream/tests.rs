use super::text_of;
use proptest::prelude::*;

/// Reads bytes as a stream does: what is not complete yet comes again in front of the next piece.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let (mut text, mut carried) = (String::new(), Vec::new());
    for piece in pieces {
        let bytes = [&carried, piece].concat();
        let (read, incomplete) = text_of(&bytes);
        text.push_str(&read);
        carried = bytes[bytes.len() - incomplete..].to_vec();
        assert!(carried.len() < 4, "at most the beginning of one character is carried");
    }
    if !carried.is_empty() {
        text.push('\u{fffd}');
    }
    text
}

proptest! {
    /// However the bytes are divided, they are read like the whole taken at once.
    #[test]
    fn does_not_depend_on_how_bytes_arrive(bytes: Vec<u8>, size in 1_usize..9) {
        prop_assert_eq!(read(bytes.chunks(size)), String::from_utf8_lossy(&bytes));
    }
}
