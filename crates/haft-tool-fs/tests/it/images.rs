use crate::fixture::run;
use haft_core::{Content, ToolReply};
use haft_testkit::Tree;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, RgbaImage};
use proptest::prelude::*;
use serde_json::json;
use std::io::Cursor;

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> ToolReply {
    run(&Tree::new().bytes("a.png", bytes), "read_file", json!({ "path": "a.png" }))
}

/// The image that a reply shows.
fn shown(reply: &ToolReply) -> Option<(String, Vec<u8>)> {
    reply.output.content.iter().find_map(|part| match part {
        Content::Image { data, mime_type } => Some((mime_type.clone(), data.as_bytes().to_vec())),
        _ => None,
    })
}

#[test]
fn an_image_that_is_small_enough_is_shown_as_it_is() {
    for (format, mime_type) in [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::Gif, "image/gif"),
        (ImageFormat::WebP, "image/webp"),
    ] {
        let bytes = encoded(&RgbImage::from_pixel(20, 10, Rgb([200, 10, 10])).into(), format);
        let reply = read(&bytes);
        assert_eq!(shown(&reply), Some((mime_type.to_owned(), bytes)));
        assert!(reply.output.content[0].as_text().unwrap().ends_with(" image of 20 × 10 pixels"));
    }
}

#[test]
fn a_large_image_is_scaled() {
    let opaque = DynamicImage::from(RgbImage::new(4000, 1000));
    let clear = DynamicImage::from(RgbaImage::new(1000, 4000));
    for (image, mime_type, size) in [(opaque, "image/jpeg", (1568, 392)), (clear, "image/png", (392, 1568))] {
        let reply = read(&encoded(&image, ImageFormat::Png));
        let (found, bytes) = shown(&reply).unwrap();
        let small = image::load_from_memory(&bytes).unwrap();
        assert_eq!((found.as_str(), (small.width(), small.height())), (mime_type, size));
        let text = reply.output.content[0].as_text().unwrap();
        assert!(text.ends_with(&format!(", shown as {} × {}", size.0, size.1)), "{text}");
    }
}

#[test]
fn a_broken_image_is_described_and_never_shown() {
    let bytes = encoded(&RgbImage::from_pixel(64, 64, Rgb([1, 2, 3])).into(), ImageFormat::Png);
    let reply = read(&bytes[..bytes.len() / 2]);
    let text = reply.output.to_text();
    assert!(
        shown(&reply).is_none() && reply.status.is_ok() && text.contains("\n[it cannot be decoded: "),
        "{text}"
    );
}

#[test]
fn a_small_file_that_says_it_is_huge_is_not_decoded() {
    let mut bytes = encoded(&RgbImage::new(1, 1).into(), ImageFormat::Png);
    bytes[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    assert!(shown(&read(&bytes)).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_can_be_decoded(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(), format in prop::sample::select(vec![ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP])) {
        let mut bytes = encoded(&RgbImage::from_fn(16, 16, |x, y| Rgb([u8::try_from(x).unwrap(), u8::try_from(y).unwrap(), 7])).into(), format);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len()) + 1);
        if let Some((_, shown)) = shown(&read(&bytes)) {
            prop_assert!(image::load_from_memory(&shown).is_ok());
        }
    }
}
