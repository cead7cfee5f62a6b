use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::HeaderValue;
use proptest::prelude::*;
use std::io::Write as _;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    gzip_at(Compression::fast(), bytes)
}

fn gzip_at(level: Compression, bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    zlib_at(Compression::fast(), bytes)
}

fn zlib_at(level: Compression, bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn decoder(coding: &'static str) -> Decoder {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    Decoder::of(&headers).unwrap().unwrap()
}

/// Decompresses what comes in pieces of this size.
fn decode(coding: &'static str, bytes: &[u8], size: usize) -> io::Result<Vec<u8>> {
    let mut decoder = decoder(coding);
    let mut pieces = bytes.chunks(size).map(Bytes::copy_from_slice);
    let mut all = Vec::new();
    loop {
        match decoder.step()? {
            Step::Piece(piece) => {
                assert!(!piece.is_empty() && piece.len() <= PIECE);
                all.extend_from_slice(&piece);
            }
            Step::Hungry => decoder.feed(pieces.next()),
            Step::End => return Ok(all),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn gives_what_was_compressed_however_it_comes(
        some in prop::collection::vec(0_u8..4, 0..500),
        times in 1..200_usize,
        size in 1..3_000_usize,
    ) {
        let bytes = some.repeat(times);
        prop_assert_eq!(&decode("gzip", &gzip(&bytes), size).unwrap(), &bytes);
        prop_assert_eq!(&decode("deflate", &zlib(&bytes), size).unwrap(), &bytes);
        let members = [gzip(&bytes), gzip(b""), gzip(&some)].concat();
        prop_assert_eq!(decode("x-gzip", &members, size).unwrap(), [&bytes[..], &some].concat());
    }

    #[test]
    fn refuses_what_was_cut_or_changed(at in 1..60_usize, flip in 1..=u8::MAX) {
        let text: Vec<u8> = (0..=u8::MAX).collect();
        // Where nothing is compressed, there are no bits that do not count.
        let level = Compression::none();
        for (coding, whole) in [("gzip", gzip_at(level, &text)), ("deflate", zlib_at(level, &text))] {
            for size in [1, 1_000] {
                prop_assert!(decode(coding, &whole[..whole.len() - at], size).is_err());
                let mut changed = whole.clone();
                let place = changed.len() - 1 - at;
                changed[place] ^= flip;
                prop_assert!(decode(coding, &changed, size).is_err(), "{coding}");
            }
        }
    }

    #[test]
    fn whatever_comes_there_is_an_end(bytes in prop::collection::vec(any::<u8>(), 1..200), size in 1..50_usize) {
        let _ = decode("deflate", &bytes, size);
        let _ = decode("gzip", &bytes, size);
        let _ = decode("gzip", &[&gzip(b"a")[..10], &bytes].concat(), size);
    }
}

#[test]
fn an_answer_without_content_is_none() {
    for coding in ["gzip", "deflate"] {
        assert_eq!(decode(coding, b"", 1).unwrap(), b"");
    }
}

#[test]
fn other_codings_are_refused_and_none_is_none() {
    let check = |codings: &[&'static str], expected: Option<bool>| {
        let mut headers = HeaderMap::new();
        for coding in codings {
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        assert_eq!(Decoder::of(&headers).map(|found| found.is_some()).ok(), expected, "{codings:?}");
    };
    check(&[], Some(false));
    check(&["", "identity"], Some(false));
    check(&["GZip"], Some(true));
    check(&["identity, gzip"], Some(true));
    for codings in
        [&["br"][..], &["zstd"], &["compress"], &["gzip, gzip"], &["gzip", "deflate"], &["gzip;q=1"]]
    {
        check(codings, None);
    }
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
    raw.write_all(b"what some servers call `deflate`").unwrap();
    assert!(decode("deflate", &raw.finish().unwrap(), 9).is_err());
}
