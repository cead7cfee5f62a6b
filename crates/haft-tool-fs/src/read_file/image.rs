//! Images as a model can see them.

use super::answer::Answer;
use crate::whole::whole;
use crate::words::{Shown, size};
use haft_core::Content;
use haft_workdir::{Workdir, WorkdirPath};
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Cursor;

/// How large an image file may be, in bytes: it is held in memory.
const FILE_BYTES: u64 = 32 * 1024 * 1024;

/// How many bytes a decoded image may take.
const DECODED_BYTES: u64 = 256 * 1024 * 1024;

/// How many pixels an image may have on a side, before it is scaled.
const SIDE: u32 = 16_384;

/// How many pixels a model is given on the longer side. Anthropic's models scale what has more down to this themselves.
const SHOWN_SIDE: u32 = 1568;

/// How many bytes a model is given: with base64 it is below the 5 MB that Anthropic's API takes of one image.
const SHOWN_BYTES: usize = 3_500_000;

/// With which quality, from 1 to 100, an image is written as JPEG.
const QUALITY: u8 = 85;

/// Answers for an image that can be decoded whole; nothing for any other file, which then is described in words.
pub(super) fn answer(workdir: &Workdir, path: &WorkdirPath, head: &[u8]) -> Option<Result<Answer, String>> {
    let format = image::guess_format(head).ok()?;
    let supported = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    if !supported.contains(&format) {
        return None;
    }
    Some(decoded(workdir, path, format))
}

fn decoded(workdir: &Workdir, path: &WorkdirPath, format: ImageFormat) -> Result<Answer, String> {
    let bytes = whole(workdir, path, FILE_BYTES)
        .map_err(|_| format!("it is larger than {} and is not shown", size(FILE_BYTES)))?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED_BYTES);
    (limits.max_image_width, limits.max_image_height) = (Some(SIDE), Some(SIDE));
    let mut reader = ImageReader::with_format(Cursor::new(&bytes), format);
    reader.limits(limits);
    let image =
        reader.decode().map_err(|error| format!("it cannot be decoded: {}", short(&error.to_string())))?;
    let (width, height) = (image.width(), image.height());
    if width == 0 || height == 0 {
        return Err("it has no pixels".to_owned());
    }
    let file_size = bytes.len() as u64;
    let mut text = format!(
        "{}: {}, {} image of {width} × {height} pixels",
        Shown::new(path.as_str()),
        size(file_size),
        name(format)
    );
    let fits = width.max(height) <= SHOWN_SIDE && bytes.len() <= SHOWN_BYTES;
    let (shown, mime_type) = if fits {
        (bytes, format.to_mime_type())
    } else {
        let Scaled { width, height, bytes, mime_type } = scaled(&image)?;
        // Writing to a string cannot fail.
        let _ = write!(text, ", shown as {width} × {height}");
        (bytes, mime_type)
    };
    let details = json!({ "path": path.as_str(), "bytes": file_size, "width": width, "height": height });
    Ok(Answer { text, image: Some(Content::image(shown, mime_type)), details })
}

/// An image that is small enough.
struct Scaled {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
    mime_type: &'static str,
}

/// Makes an image small enough.
fn scaled(image: &DynamicImage) -> Result<Scaled, String> {
    let mut side = SHOWN_SIDE.min(image.width().max(image.height()));
    while side > 0 {
        let small = image.resize(side, side, FilterType::Triangle);
        let mut bytes = Vec::new();
        let mime_type = if small.color().has_alpha() {
            small.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).map(|()| "image/png")
        } else {
            let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
            small.to_rgb8().write_with_encoder(encoder).map(|()| "image/jpeg")
        };
        let mime_type =
            mime_type.map_err(|error| format!("it cannot be scaled: {}", short(&error.to_string())))?;
        if bytes.len() <= SHOWN_BYTES {
            return Ok(Scaled { width: small.width(), height: small.height(), bytes, mime_type });
        }
        side /= 2;
    }
    Err("it cannot be made small enough to be shown".to_owned())
}

fn name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "a PNG",
        ImageFormat::Jpeg => "a JPEG",
        ImageFormat::Gif => "a GIF",
        _ => "a WebP",
    }
}

/// Takes the first line of what a decoder says, and not all of that.
fn short(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().filter(|each| !each.is_control()).take(120).collect()
}
