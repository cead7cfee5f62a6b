use super::*;
use proptest::prelude::*;

const GET: Method = Method::GET;
const POST: Method = Method::POST;

fn milliseconds(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn status(status: u16, said: Option<u64>) -> Failure {
    Failure::Status(StatusCode::from_u16(status).unwrap(), said.map(milliseconds))
}

/// Checks how long is waited after the first attempt that failed, without chance.
fn check(method: &Method, failure: Failure, expected: Option<u64>) {
    let wait = Retries::default().delay(milliseconds(200)).wait(1, method, failure, 0.0);
    assert_eq!(wait, expected.map(milliseconds), "{method} {failure:?}");
}

#[test]
fn an_idempotent_request_is_made_again_where_that_may_help() {
    for method in [GET, Method::HEAD, Method::OPTIONS, Method::PUT, Method::DELETE] {
        check(&method, Failure::Broken, Some(100));
        for code in [408, 429, 502, 503, 504] {
            check(&method, status(code, None), Some(100));
            check(&method, status(code, Some(700)), Some(700));
        }
        for code in [200, 204, 302, 400, 401, 403, 404, 409, 422, 500, 501] {
            check(&method, status(code, None), None);
            check(&method, status(code, Some(700)), None);
        }
    }
}

#[test]
fn any_other_is_made_again_only_where_it_was_not_acted_on_and_the_answer_says_when_to_come() {
    for method in [POST, Method::PATCH, Method::CONNECT, "PURGE".parse().unwrap()] {
        check(&method, Failure::Broken, None);
        for code in [429, 503] {
            check(&method, status(code, None), None);
            check(&method, status(code, Some(700)), Some(700));
        }
        for code in [200, 408, 500, 502, 504] {
            check(&method, status(code, Some(700)), None);
        }
    }
}

#[test]
fn what_is_refused_or_not_trusted_is_final() {
    let address = || Error::Address { host: "a".to_owned(), address: [127, 0, 0, 1].into() };
    let certificate = || Error::Certificate { host: "a".to_owned(), reason: "r", source: "s".into() };
    let redirect = || Error::Redirect { host: "a".to_owned(), reason: "r" };
    let late = || Error::Late { host: "a".to_owned(), within: Duration::ZERO };
    for error in [address(), certificate(), redirect(), late(), Error::Url("u"), Error::TooLarge { most: 1 }]
    {
        assert_eq!(Failure::of::<()>(&Err(error)), None);
    }
}

#[test]
fn an_answer_that_says_too_long_a_wait_is_handed_out() {
    check(&GET, status(503, Some(30_000)), Some(30_000));
    check(&GET, status(503, Some(30_001)), None);
    check(&POST, status(429, Some(u64::MAX)), None);
}

#[test]
fn the_wait_doubles_up_to_the_longest() {
    let retries =
        Retries::default().most(u8::MAX).delay(milliseconds(100)).longest_delay(milliseconds(1_000));
    for (failed, expected) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (40, 1_000), (255, 1_000)]
    {
        assert_eq!(
            retries.wait(failed, &GET, Failure::Broken, 1.0),
            Some(milliseconds(expected)),
            "{failed}"
        );
        assert_eq!(
            retries.wait(failed, &GET, Failure::Broken, 0.0),
            Some(milliseconds(expected / 2)),
            "{failed}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded_in_number_and_in_time() {
    let broken = || Err::<Response<()>, _>(Error::Silent { host: "a".to_owned(), within: Duration::ZERO });
    let forever = Duration::MAX;
    let mut twice = Retrying::begin(Retries::default());
    assert!(twice.has_more() && twice.wait(&GET, &broken(), forever).is_some());
    assert!(twice.has_more() && twice.wait(&GET, &broken(), forever).is_some());
    assert!(!twice.has_more() && twice.wait(&GET, &broken(), forever).is_none());

    let mut never = Retrying::begin(Retries::never());
    assert!(!never.has_more() && never.wait(&GET, &broken(), forever).is_none());

    let mut late = Retrying::begin(Retries::default().most(9).within(Duration::from_secs(10)));
    assert!(late.wait(&GET, &broken(), forever).is_some());
    assert!(
        late.wait(&GET, &broken(), milliseconds(1)).is_none(),
        "it would begin when the exchange is over"
    );
    tokio::time::advance(Duration::from_secs(10)).await;
    assert!(late.wait(&GET, &broken(), forever).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_comes_back_earlier_than_told_nor_waits_longer_than_the_longest(
        failed in 1..=u8::MAX,
        said in prop::option::of(0..40_000_u64),
        delay in 0..40_000_u64,
        chance in 0.0..1.0,
    ) {
        let retries = Retries::default().most(u8::MAX).delay(milliseconds(delay));
        let failure = status(503, said);
        match (retries.wait(failed, &GET, failure, chance), said) {
            (None, said) => prop_assert!(said.is_some_and(|said| said > 30_000)),
            (Some(wait), said) => {
                prop_assert!(wait <= milliseconds(30_000));
                prop_assert!(wait >= milliseconds(said.unwrap_or(0)));
            }
        }
    }
}
