use super::reply::Notice;
use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use std::error::Error;
use std::time::Duration;

/// Reads a request's body whole; refuses one that is too large or too slow.
pub(super) async fn read<B>(body: B, most: usize, within: Duration) -> Result<Bytes, Notice>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let too_large =
        || Notice::refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than is taken").closing();
    if body.size_hint().lower() > most as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(within, Limited::new(body, most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Notice::refusal(StatusCode::BAD_REQUEST, "the body broke off").closing()),
        Err(_) => {
            Err(Notice::refusal(StatusCode::REQUEST_TIMEOUT, "the body did not come in time").closing())
        }
    }
}
