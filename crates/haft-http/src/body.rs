use crate::Error;
use bytes::Bytes;
use std::fmt;

/// Is the body of an answer, read as it comes and no further than is taken.
///
/// Dropping it closes the connection unless it was read to its end.
pub struct Body {
    response: reqwest::Response,
    host: String,
    taken: u64,
    most: Option<u64>,
}

impl Body {
    /// Begins to read; refuses at once what says that it is too large.
    pub(crate) fn new(response: reqwest::Response, host: String, most: Option<u64>) -> Result<Self, Error> {
        let body = Self { response, host, taken: 0, most: None };
        match most {
            Some(most) => body.most_bytes(most),
            None => Ok(body),
        }
    }

    /// How many bytes it has, if the answer says so.
    pub fn length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// Takes no more than this many bytes in all, whatever the exchange allowed.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if it says that it is larger.
    pub fn most_bytes(self, most: u64) -> Result<Self, Error> {
        match self.length() {
            Some(length) if length > most => Err(Error::TooLarge { most }),
            _ => Ok(Self { most: Some(most), ..self }),
        }
    }

    /// Gives the next piece as it came, or `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if more came than is taken, [`Error::Interrupted`] if the connection broke.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped; the next call goes on.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let piece = self.response.chunk().await.map_err(|error| Error::Interrupted {
            host: self.host.clone(),
            source: Box::new(error.without_url()),
        })?;
        self.taken += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        match self.most {
            Some(most) if self.taken > most => Err(Error::TooLarge { most }),
            _ => Ok(piece),
        }
    }

    /// Reads all of it.
    ///
    /// # Errors
    ///
    /// As [`Body::next`].
    ///
    /// # Cancel safety
    ///
    /// What was read is lost when the future is dropped.
    pub async fn bytes(mut self) -> Result<Bytes, Error> {
        let Some(first) = self.next().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.next().await? else { return Ok(first) };
        let mut all = Vec::from(first);
        all.extend_from_slice(&second);
        while let Some(piece) = self.next().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all.into())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("taken", &self.taken).field("most", &self.most).finish_non_exhaustive()
    }
}
