use super::file::file;
use super::form::form;
use super::multipart::multipart;
use super::{pointer, scalar};
use crate::EncodeError;
use crate::plan::{Body, Media, Plan, Shape};
use bytes::Bytes;
use http::HeaderValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Writes a body and says what it is; `None` where there is to be none.
pub(super) fn body(
    body: &Body,
    content: Option<Cow<'_, Value>>,
    plan: &Plan,
) -> Result<Option<(HeaderValue, Bytes)>, EncodeError> {
    let Some(content) = content else { return Ok(None) };
    let key = match &body.shape {
        Shape::Whole(key) => key.as_str(),
        Shape::Flat(_) => "",
    };
    let members = || -> Result<&Map<String, Value>, EncodeError> {
        content.as_object().ok_or_else(|| EncodeError::argument(pointer(key), "it must be an object"))
    };
    let mut content_type = Cow::Borrowed(body.content_type.as_str());
    let bytes = match body.media {
        // A value that was read once can be written.
        Media::Json => Bytes::from(serde_json::to_vec(&*content).unwrap_or_default()),
        Media::Form => form(body, members()?, plan.forms)?.into(),
        Media::Multipart => {
            let (boundary, bytes) = multipart(body, members()?)?;
            let essence = body.content_type.split(';').next().unwrap_or_default().trim();
            content_type = Cow::Owned(format!("{essence}; boundary={boundary}"));
            bytes
        }
        Media::Text => scalar::text(&content).into_owned().into(),
        Media::Bytes => {
            let file = file(&content, &pointer(key))?;
            if let Some(said) = file.content_type.filter(|_| body.content_type == "application/octet-stream")
            {
                content_type = Cow::Owned(said.to_owned());
            }
            file.bytes
        }
    };
    let content_type = HeaderValue::from_str(&content_type)
        .map_err(|_| EncodeError::argument(pointer(key), "its media type cannot be sent"))?;
    Ok(Some((content_type, bytes)))
}
