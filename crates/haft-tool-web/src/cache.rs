//! Answers that were read before, kept as long as their servers say (RFC 9111).

use bytes::Bytes;
use http::header::{AGE, CACHE_CONTROL, HeaderMap, HeaderValue};
use http::{Request, Response, request, response};
use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The most answers that are kept, and the most bytes of all of them.
const MOST_ENTRIES: usize = 200;
const MOST_BYTES: usize = 32 << 20;

/// It is one person's: what is meant for them alone may be kept, in memory.
const OPTIONS: CacheOptions = CacheOptions {
    shared: false,
    cache_heuristic: 0.1,
    immutable_min_time_to_live: std::time::Duration::from_hours(24),
    ignore_cargo_cult: false,
};

/// Keeps answers in memory, the ones that were asked for last.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_address: HashMap<String, Entry>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    policy: CachePolicy,
    body: Bytes,
    used: u64,
}

/// Says what is known of an address.
pub(crate) enum Known {
    /// This is the answer.
    Fresh(HeaderMap, Bytes),
    /// The server is asked, in this way: it may say that what is known still holds.
    Ask(Box<request::Parts>),
}

impl Cache {
    /// Looks for an answer to a request.
    pub(crate) fn look_up(&self, request: request::Parts, now: SystemTime) -> Known {
        let mut entries = self.entries();
        let used = entries.tick();
        let Some(entry) = entries.by_address.get_mut(&request.uri.to_string()) else {
            return Known::Ask(Box::new(request));
        };
        entry.used = used;
        match entry.policy.before_request(&request, now) {
            BeforeRequest::Fresh(head) => Known::Fresh(head.headers, entry.body.clone()),
            BeforeRequest::Stale { request, .. } => Known::Ask(Box::new(request)),
        }
    }

    /// Gives what was kept, where the server says that it still holds; where it says so of something else, nothing is known any
    /// more.
    pub(crate) fn renew(
        &self,
        request: &Request<()>,
        answer: &response::Parts,
        now: SystemTime,
    ) -> Option<(HeaderMap, Bytes)> {
        let mut entries = self.entries();
        let address = request.uri().to_string();
        let entry = entries.by_address.get_mut(&address)?;
        let response = Response::from_parts(answer.clone(), ());
        if !has_odd_times(&answer.headers)
            && let AfterResponse::NotModified(policy, head) =
                entry.policy.after_response(request, &response, now)
        {
            entry.policy = policy;
            return Some((head.headers, entry.body.clone()));
        }
        entries.remove(&address);
        None
    }

    /// Keeps an answer, if its server lets it be kept.
    pub(crate) fn keep(
        &self,
        request: &Request<()>,
        answer: &response::Parts,
        body: &Bytes,
        now: SystemTime,
    ) {
        let address = request.uri().to_string();
        let answer = Response::from_parts(answer.clone(), ());
        let policy = CachePolicy::new_options(request, &answer, now, OPTIONS);
        let mut entries = self.entries();
        entries.remove(&address);
        if !policy.is_storable() || has_odd_times(answer.headers()) || body.len() > MOST_BYTES / 4 {
            return;
        }
        entries.bytes += body.len();
        let used = entries.tick();
        entries.by_address.insert(address, Entry { policy, body: body.clone(), used });
        while entries.bytes > MOST_BYTES || entries.by_address.len() > MOST_ENTRIES {
            let oldest = entries.by_address.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(address, _)| address.clone()) else { break };
            entries.remove(&oldest);
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether an answer gives a time that nobody can add another to: some thirty years and more.
fn has_odd_times(headers: &HeaderMap) -> bool {
    let values = [AGE, CACHE_CONTROL].into_iter().flat_map(|name| headers.get_all(name));
    let is_odd = |value: &HeaderValue| {
        value.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() > 9)
    };
    values.into_iter().any(is_odd)
}

impl Entries {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn remove(&mut self, address: &str) {
        if let Some(entry) = self.by_address.remove(address) {
            self.bytes -= entry.body.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(cache: &Cache, address: &str, said: &str, bytes: usize) {
        let request = Request::get(address).body(()).unwrap();
        let (answer, ()) = Response::builder().header("cache-control", said).body(()).unwrap().into_parts();
        cache.keep(&request, &answer, &Bytes::from(vec![0; bytes]), SystemTime::now());
    }

    fn is_fresh(cache: &Cache, address: &str) -> bool {
        let (request, ()) = Request::get(address).body(()).unwrap().into_parts();
        matches!(cache.look_up(request, SystemTime::now()), Known::Fresh(..))
    }

    #[test]
    fn what_may_be_kept_is_and_the_oldest_goes_first() {
        let cache = Cache::default();
        keep(&cache, "http://a.example/", "max-age=60", 8 << 20);
        keep(&cache, "http://b.example/", "no-store", 10);
        keep(&cache, "http://c.example/", "max-age=60", 9 << 20);
        assert!(is_fresh(&cache, "http://a.example/"));
        assert!(!is_fresh(&cache, "http://b.example/") && !is_fresh(&cache, "http://c.example/"));
        for place in 0..3 {
            keep(&cache, &format!("http://d.example/{place}"), "max-age=60", 8 << 20);
        }
        assert!(is_fresh(&cache, "http://a.example/"));
        keep(&cache, "http://e.example/", "max-age=60", 8 << 20);
        assert!(is_fresh(&cache, "http://a.example/") && !is_fresh(&cache, "http://d.example/0"));
        assert_eq!(cache.entries().bytes, 32 << 20);
        keep(&cache, "http://e.example/", "no-store", 10);
        assert_eq!(cache.entries().bytes, 24 << 20);
    }

    #[test]
    fn times_that_nobody_can_add_to_are_not_kept() {
        let cache = Cache::default();
        for (name, value) in [
            ("age", "18446744073709551615"),
            ("age", "99999999999"),
            ("cache-control", "max-age=18446744073709551615"),
        ] {
            let request = Request::get("http://a.example/").body(()).unwrap();
            let answer = Response::builder().header("cache-control", "max-age=60").header(name, value);
            let (answer, ()) = answer.body(()).unwrap().into_parts();
            let now = SystemTime::now();
            cache.keep(&request, &answer, &Bytes::from_static(b"x"), now);
            let (request, ()) = request.into_parts();
            let later = now + std::time::Duration::from_secs(10);
            assert!(matches!(cache.look_up(request, later), Known::Ask(_)), "{name}: {value}");
        }
    }
}
