use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;

/// Goes on with work while something else is waited for, such as with taking what a program prints until it has ended.
///
/// The work goes on only while one of the methods is waited for. It may end before, at whatever time.
///
/// ```
/// use haft_process::Alongside;
/// use std::pin::pin;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (tell, told) = tokio::sync::oneshot::channel();
/// let work = pin!(async {
///     let _ = tell.send("done");
/// });
/// let mut alongside = Alongside::new(work);
/// assert_eq!(alongside.during(told).await, Ok("done"));
/// # }
/// ```
pub struct Alongside<'a, F> {
    work: Pin<&'a mut F>,
    is_over: bool,
}

impl<'a, F: Future<Output = ()>> Alongside<'a, F> {
    /// Takes work that has not ended.
    pub fn new(work: Pin<&'a mut F>) -> Self {
        Self { work, is_over: false }
    }

    /// Goes on until something happens, and gives what that gives.
    ///
    /// # Cancel safety
    ///
    /// As cancel safe as the event is; the work goes on with the next call.
    pub async fn during<T>(&mut self, event: impl Future<Output = T>) -> T {
        let mut event = pin!(event);
        poll_fn(|context| {
            // The event goes first, so that a flood of output cannot keep it from being seen.
            if let Poll::Ready(given) = event.as_mut().poll(context) {
                return Poll::Ready(given);
            }
            if !self.is_over {
                self.is_over = self.work.as_mut().poll(context).is_ready();
            }
            Poll::Pending
        })
        .await
    }

    /// Goes on until the work is over, or for this long.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the work goes on with the next call.
    pub async fn during_at_most(&mut self, most: Duration) {
        if !self.is_over {
            self.is_over = timeout(most, self.work.as_mut()).await.is_ok();
        }
    }
}

impl<F> fmt::Debug for Alongside<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alongside").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::{pending, ready};
    use tokio::task::yield_now;

    #[tokio::test]
    async fn the_work_goes_on_until_the_event_and_no_further() {
        let done = Cell::new(0);
        let work = pin!(async {
            loop {
                done.set(done.get() + 1);
                yield_now().await;
            }
        });
        let mut alongside = Alongside::new(work);
        let event = async {
            yield_now().await;
            yield_now().await;
            "happened"
        };
        assert_eq!((alongside.during(event).await, done.get()), ("happened", 2));
        // What has happened already is seen before anything else is done.
        assert_eq!((alongside.during(ready(1)).await, done.get()), (1, 2));
        alongside.during_at_most(Duration::ZERO).await;
        assert!(done.get() > 2);
    }

    #[tokio::test]
    async fn work_that_is_over_is_not_waited_for_again() {
        let short = pin!(ready(()));
        let mut alongside = Alongside::new(short);
        alongside.during(yield_now()).await;
        alongside.during_at_most(Duration::MAX).await;
        alongside.during(yield_now()).await;

        let endless = pin!(pending());
        let mut endless = Alongside::new(endless);
        endless.during_at_most(Duration::ZERO).await;
        assert_eq!(endless.during(ready(1)).await, 1);
    }
}
