mod decoder;

use crate::clock::{Clock, Overdue};
use crate::{Error, Exchange};
use bytes::Bytes;
pub(crate) use decoder::Decoder;
use decoder::Step;
use std::fmt;
use std::time::Duration;

/// Is the body of an answer, read as it comes and no further than is taken.
///
/// What is taken is counted as it is read, after decompression, while it comes. Of what was compressed, no more comes over the
/// network than it would be uncompressed. Dropping it closes the connection unless it was read to its end.
///
/// ```
/// use haft_http::{AddressPolicy, Exchange, HttpClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let url = format!("http://{}/", listener.local_addr()?);
/// # std::thread::spawn(move || {
/// #     use std::io::{Read as _, Write as _};
/// #     let (mut connection, _) = listener.accept()?;
/// #     let _ = connection.read(&mut [0; 4096])?;
/// #     connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
/// # });
/// let client = HttpClient::new(AddressPolicy::public().loopback())?;
/// let request = http::Request::get(url).body(bytes::Bytes::new())?;
/// let mut body = client.send(request, Exchange::default()).await?.into_body();
/// assert_eq!(body.length(), Some(5));
///
/// let mut text = Vec::new();
/// while let Some(piece) = body.next().await? {
///     text.extend_from_slice(&piece);
/// }
/// assert_eq!(text, b"hello");
/// # Ok(())
/// # }
/// ```
pub struct Body {
    response: reqwest::Response,
    host: String,
    decoder: Option<Decoder>,
    clock: Clock,
    idle_timeout: Option<Duration>,
    /// How many bytes came over the network.
    came: u64,
    taken: u64,
    most: Option<u64>,
}

impl Body {
    /// Begins to read; refuses at once what says that it is too large.
    pub(crate) fn new(
        response: reqwest::Response,
        host: String,
        decoder: Option<Decoder>,
        exchange: Exchange,
        clock: Clock,
    ) -> Result<Self, Error> {
        let idle_timeout = exchange.idle_timeout;
        let body = Self { response, host, decoder, clock, idle_timeout, came: 0, taken: 0, most: None };
        match exchange.most_bytes {
            Some(most) => body.most_bytes(most),
            None => Ok(body),
        }
    }

    /// How many bytes it has, if the answer says so; that is not known of what is decompressed.
    pub fn length(&self) -> Option<u64> {
        self.response.content_length().filter(|_| self.decoder.is_none())
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

    /// Gives the next piece as it came, or as it is decompressed, or `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if more came than is taken, [`Error::Interrupted`] if the connection broke, [`Error::Stalled`] or
    /// [`Error::Late`] if it took too long, [`Error::Encoding`] if it cannot be decompressed.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped; the next call goes on.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let piece = match self.decoder {
            Some(_) => self.decoded().await?,
            None => self.raw().await?,
        };
        self.taken += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        match self.most {
            Some(most) if self.taken > most => Err(Error::TooLarge { most }),
            _ => Ok(piece),
        }
    }

    /// Reads all of it.
    ///
    /// It holds at most one and a half times the bytes that are taken at any time, besides what a connection buffers (some
    /// 400 KiB).
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
        let mut all = Vec::new();
        let mut piece = Some(first);
        let mut then = Some(second);
        while let Some(this) = piece {
            make_room(&mut all, this.len(), self.most);
            all.extend_from_slice(&this);
            piece = match then.take() {
                Some(then) => Some(then),
                None => self.next().await?,
            };
        }
        Ok(all.into())
    }

    /// Gives the next piece as it came.
    async fn raw(&mut self) -> Result<Option<Bytes>, Error> {
        let piece = self.clock.within(self.idle_timeout, self.response.chunk()).await.map_err(|overdue| {
            let host = self.host.clone();
            match overdue {
                Overdue::Wait(within) => Error::Stalled { host, within },
                Overdue::Whole(within) => Error::Late { host, within },
            }
        })?;
        piece.map_err(|error| Error::Interrupted {
            host: self.host.clone(),
            source: Box::new(error.without_url()),
        })
    }

    /// Gives the next piece that is decompressed.
    async fn decoded(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let Some(decoder) = &mut self.decoder else { return Ok(None) };
            let step = decoder.step();
            match step
                .map_err(|error| Error::Encoding { host: self.host.clone(), source: Box::new(error) })?
            {
                Step::Piece(piece) => return Ok(Some(piece)),
                Step::End => return Ok(None),
                Step::Hungry => {}
            }
            let piece = self.raw().await?;
            self.came += piece.as_ref().map_or(0, |piece| piece.len() as u64);
            match self.most {
                // What decompresses to nothing would never be cut.
                Some(most) if self.came > compressed(most) => return Err(Error::TooLarge { most }),
                _ => {}
            }
            if let Some(decoder) = &mut self.decoder {
                decoder.feed(piece);
            }
        }
    }
}

/// How many bytes so many can have when they are compressed as badly as can be: an eighth more (RFC 1951, section 3.2.6, has
/// codes of 9 bits for a byte), and what stands around them.
fn compressed(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 8).saturating_add(64 << 10)
}

/// Makes room for further bytes, in steps of which the last is the most that is taken: the one before it is half as large, so
/// that both together are less than twice of it while one is copied to the other.
fn make_room(all: &mut Vec<u8>, further: usize, most: Option<u64>) {
    let needed = all.len().saturating_add(further);
    if needed <= all.capacity() {
        return;
    }
    let Some(mut room) = most.and_then(|most| usize::try_from(most).ok()) else { return };
    while room / 2 >= needed {
        room /= 2;
    }
    all.reserve_exact(room.saturating_sub(all.len()));
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("taken", &self.taken).field("most", &self.most).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn room_is_made_in_few_steps_and_never_for_more_than_is_taken(most in 1..200_000_usize, piece in 1..5_000_usize) {
            let (mut all, mut steps) = (Vec::new(), 0);
            while all.len() < most {
                let piece = piece.min(most - all.len());
                let before = all.capacity();
                make_room(&mut all, piece, Some(most as u64));
                prop_assert!(all.capacity() >= all.len() + piece && all.capacity() <= most);
                if all.capacity() > before {
                    steps += 1;
                    prop_assert!(before + all.capacity() <= most + most / 2 + 1, "{before} {}", all.capacity());
                }
                all.resize(all.len() + piece, 0);
            }
            prop_assert!(steps <= 20);
        }
    }
}
