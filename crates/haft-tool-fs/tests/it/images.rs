use crate::fixture::run;
use haft_core::{Content, ToolReply};
use haft_testkit::{Tree, call};
use haft_tool_fs::{ReadFile, ReadLimits};
use haft_tools_core::ToolRegistry;
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

/// A frame of one color.
fn frame(shade: u8) -> image::Frame {
    image::Frame::new(RgbaImage::from_pixel(32, 32, image::Rgba([shade, 0, 0, 255])))
}

fn animated_gif() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
    encoder.encode_frames([frame(10), frame(100), frame(200)]).unwrap();
    drop(encoder);
    bytes
}

/// Writes a chunk of RIFF, with a byte behind an odd one.
fn chunk(name: [u8; 4], content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(content.len()).unwrap().to_le_bytes();
    let mut chunk = [&name[..], &size, content].concat();
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

/// Puts whole images together, of which each becomes a frame.
fn animated_webp(frames: &[&[u8]]) -> Vec<u8> {
    let of_24_bits = |number: u32| number.to_le_bytes()[..3].to_vec();
    let size = [of_24_bits(31), of_24_bits(31)].concat();
    let mut body = chunk(*b"VP8X", &[&[0x02, 0, 0, 0][..], &size].concat());
    body.extend(chunk(*b"ANIM", &[0; 6]));
    for frame in frames {
        let head = [of_24_bits(0), of_24_bits(0), size.clone(), of_24_bits(100), vec![0]].concat();
        body.extend(chunk(*b"ANMF", &[head, frame.to_vec()].concat()));
    }
    chunk(*b"RIFF", &[&b"WEBP"[..], &body].concat())
}

/// Checks that one whole frame is shown, whatever the others are.
fn check_first_frame(bytes: &[u8]) {
    let reply = read(bytes);
    let text = reply.output.content[0].as_text().unwrap();
    assert!(text.ends_with("32 × 32 pixels, shown as the first frame of its animation"), "{text}");
    let (mime_type, bytes) = shown(&reply).unwrap();
    assert!(["image/png", "image/jpeg"].contains(&&*mime_type), "{mime_type}");
    let first = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert!(first.get_pixel(3, 3).0[0].abs_diff(10) < 8, "{:?}", first.get_pixel(3, 3));
}

#[test]
fn of_an_animation_the_first_frame_is_shown_and_no_other() {
    let gif = animated_gif();
    check_first_frame(&gif);
    // The last frame breaks off, and is none.
    check_first_frame(&gif[..gif.len() - 40]);
    let still = encoded(&RgbImage::from_pixel(32, 32, Rgb([10, 0, 0])).into(), ImageFormat::WebP);
    let (head, still) = still.split_at(12);
    assert_eq!(&head[8..], b"WEBP");
    check_first_frame(&animated_webp(&[still, still]));
    let broken = chunk(*b"VP8L", b"no image at all");
    check_first_frame(&animated_webp(&[still, &broken]));
}

#[test]
fn an_animation_that_does_not_begin_is_only_described() {
    let broken = chunk(*b"VP8L", b"no image at all");
    for bytes in [animated_webp(&[&broken]), animated_webp(&[]), animated_gif()[..60].to_vec()] {
        assert!(shown(&read(&bytes)).is_none());
    }
}

#[test]
fn a_host_says_how_large_an_image_is_shown() {
    let tree = Tree::new().bytes("a.png", &encoded(&RgbImage::new(400, 100).into(), ImageFormat::Png));
    let read = |limits: ReadLimits| {
        let tool = ReadFile::new(tree.workdir()).limits(limits);
        let tools = ToolRegistry::new().with(tool).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(call(&tools, "read_file", json!({ "path": "a.png" })))
    };
    let reply = read(ReadLimits { image_side: 200, ..ReadLimits::default() });
    let small = image::load_from_memory(&shown(&reply).unwrap().1).unwrap();
    assert_eq!((small.width(), small.height()), (200, 50));
    let reply = read(ReadLimits { image_bytes: 700, ..ReadLimits::default() });
    assert!(shown(&reply).is_none_or(|(_, bytes)| bytes.len() <= 700));
    let reply = read(ReadLimits { image_file_bytes: 10, ..ReadLimits::default() });
    assert!(shown(&reply).is_none() && reply.output.to_text().contains("it is larger than 10 bytes"));
    let reply = read(ReadLimits { decoded_bytes: 10_000, ..ReadLimits::default() });
    assert!(shown(&reply).is_none() && reply.status.is_ok());
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
