use super::passage::Passage;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Is the body of an answer, and of the request's way through until it is sent.
pub(super) struct Reply<B> {
    body: Kind<B>,
    passage: Option<Passage>,
}

enum Kind<B> {
    /// What the front says itself.
    Own(Option<Bytes>),
    /// What the protocol says.
    Inner(B),
}

/// Is an answer that the front gives itself.
#[derive(Debug)]
pub(super) struct Notice {
    pub(super) status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
    /// Why, for the log; `None` where nothing was refused.
    pub(super) reason: Option<String>,
}

impl Notice {
    /// Refuses, and says why to the client and the log alike.
    pub(super) fn refusal(status: StatusCode, why: &'static str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", why).because(why)
    }

    /// Refuses with an error of JSON-RPC that belongs to no request.
    pub(super) fn fault(code: i32, message: &'static str) -> Self {
        // Debug quotes these texts, which are plain, as JSON does.
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":{message:?}}}}}"#);
        Self::new(StatusCode::BAD_REQUEST, "application/json", body).because(message)
    }

    pub(super) fn json(body: Bytes) -> Self {
        Self::new(StatusCode::OK, "application/json", body)
    }

    pub(super) fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::new(), reason: None }
    }

    fn new(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Self {
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static(kind))];
        Self { status, headers, body: body.into(), reason: None }
    }

    pub(super) fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Says after how long it may be tried again, in whole seconds.
    pub(super) fn after(self, wait: Duration) -> Self {
        let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).clamp(1, 3_600);
        self.header(RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Ends the connection: what was sent on it was not read to its end.
    pub(super) fn closing(self) -> Self {
        self.header(CONNECTION, HeaderValue::from_static("close"))
    }

    pub(super) fn into_response<B>(self) -> http::Response<Reply<B>> {
        let mut response = http::Response::new(Reply { body: Kind::Own(Some(self.body)), passage: None });
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.into_iter().collect();
        response
    }
}

impl<B> Reply<B> {
    pub(super) fn inner(body: B) -> Self {
        Self { body: Kind::Inner(body), passage: None }
    }

    pub(super) fn over(mut self, passage: Passage) -> Self {
        self.passage = Some(passage);
        self
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Reply<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let polled = match &mut this.body {
            Kind::Own(body) => {
                Poll::Ready(body.take().filter(|body| !body.is_empty()).map(|body| Ok(Frame::data(body))))
            }
            Kind::Inner(body) => Pin::new(body).poll_frame(cx),
        };
        if let (Poll::Ready(Some(Ok(frame))), Some(passage)) = (&polled, &mut this.passage) {
            passage.sent(frame.data_ref().map_or(0, Bytes::len));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Kind::Own(body) => body.as_ref().is_none_or(Bytes::is_empty),
            Kind::Inner(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Kind::Own(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Kind::Inner(body) => body.size_hint(),
        }
    }
}
