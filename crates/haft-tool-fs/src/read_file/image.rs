//! Images as a model can see them.

use super::ReadLimits;
use super::answer::Answer;
use crate::whole::whole;
use crate::words::{Shown, size};
use haft_core::Content;
use haft_workdir::{Workdir, WorkdirPath};
use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::imageops::FilterType;
use image::{
    AnimationDecoder as _, DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader,
    ImageResult, Limits,
};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Cursor;

/// How many pixels an image may have on a side, before it is scaled.
const SIDE: u32 = 16_384;

/// With which quality, from 1 to 100, an image is written as JPEG.
const QUALITY: u8 = 85;

/// Answers for an image that can be decoded whole; nothing for any other file, which then is described in words.
pub(super) fn answer(
    workdir: &Workdir,
    path: &WorkdirPath,
    head: &[u8],
    limits: ReadLimits,
) -> Option<Result<Answer, String>> {
    let format = image::guess_format(head).ok()?;
    let supported = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    if !supported.contains(&format) {
        return None;
    }
    Some(decoded(workdir, path, format, limits))
}

fn decoded(
    workdir: &Workdir,
    path: &WorkdirPath,
    format: ImageFormat,
    limits: ReadLimits,
) -> Result<Answer, String> {
    let bytes = whole(workdir, path, limits.image_file_bytes)
        .map_err(|_| format!("it is larger than {} and is not shown", size(limits.image_file_bytes)))?;
    let undecodable = |error: ImageError| format!("it cannot be decoded: {}", short(&error.to_string()));
    let mut bounds = Limits::default();
    bounds.max_alloc = Some(limits.decoded_bytes);
    (bounds.max_image_width, bounds.max_image_height) = (Some(SIDE), Some(SIDE));
    let mut reader = ImageReader::with_format(Cursor::new(&bytes), format);
    reader.limits(bounds.clone());
    let image = reader.decode().map_err(undecodable)?;
    let (width, height) = (image.width(), image.height());
    if width == 0 || height == 0 {
        return Err("it has no pixels".to_owned());
    }
    let is_animated = is_animated(&bytes, format, bounds).map_err(undecodable)?;
    let file_size = bytes.len() as u64;
    let mut text = format!(
        "{}: {}, {} image of {width} × {height} pixels",
        Shown::new(path.as_str()),
        size(file_size),
        name(format)
    );
    let fits = width.max(height) <= limits.image_side && bytes.len() <= limits.image_bytes;
    let (shown, mime_type) = if fits && !is_animated {
        (bytes, format.to_mime_type())
    } else {
        let Scaled { image, bytes, mime_type } = scaled(&image, limits)?;
        if is_animated {
            text.push_str(", shown as the first frame of its animation");
        }
        if (image.width(), image.height()) != (width, height) {
            // Writing to a string cannot fail.
            let _ = write!(text, ", shown as {} × {}", image.width(), image.height());
        }
        (bytes, mime_type)
    };
    let details = json!({ "path": path.as_str(), "bytes": file_size, "width": width, "height": height });
    Ok(Answer { text, image: Some(Content::image(shown, mime_type)), details })
}

/// Tells whether more than one frame is in an image: the others are not decoded, so they are not given either.
fn is_animated(bytes: &[u8], format: ImageFormat, bounds: Limits) -> ImageResult<bool> {
    let file = Cursor::new(bytes);
    match format {
        ImageFormat::Gif => {
            let mut decoder = GifDecoder::new(file)?;
            decoder.set_limits(bounds)?;
            // A further frame that is broken is one, too.
            Ok(decoder.into_frames().nth(1).is_some())
        }
        ImageFormat::WebP => Ok(WebPDecoder::new(file)?.has_animation()),
        ImageFormat::Png => PngDecoder::with_limits(file, bounds)?.is_apng(),
        _ => Ok(false),
    }
}

/// An image that is small enough.
struct Scaled {
    image: DynamicImage,
    bytes: Vec<u8>,
    mime_type: &'static str,
}

/// Makes an image small enough.
fn scaled(image: &DynamicImage, limits: ReadLimits) -> Result<Scaled, String> {
    let longer = image.width().max(image.height());
    let mut side = limits.image_side.min(longer);
    while side > 0 {
        let small =
            if side == longer { image.clone() } else { image.resize(side, side, FilterType::Triangle) };
        let mut bytes = Vec::new();
        let mime_type = if small.color().has_alpha() {
            small.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).map(|()| "image/png")
        } else {
            let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
            small.to_rgb8().write_with_encoder(encoder).map(|()| "image/jpeg")
        };
        let mime_type =
            mime_type.map_err(|error| format!("it cannot be scaled: {}", short(&error.to_string())))?;
        if bytes.len() <= limits.image_bytes {
            return Ok(Scaled { image: small, bytes, mime_type });
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
