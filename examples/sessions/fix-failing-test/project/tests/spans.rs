use span::{format, parse, ParseError};

#[test]
fn reads_single_units() {
    assert_eq!(parse("2d"), Ok(172_800_000));
    assert_eq!(parse("3h"), Ok(10_800_000));
    assert_eq!(parse("45s"), Ok(45_000));
}

#[test]
fn reads_several_units() {
    assert_eq!(parse("1h30m"), Ok(5_400_000));
    assert_eq!(parse("1h 30m 15s"), Ok(5_415_000));
}

#[test]
fn reads_milliseconds() {
    assert_eq!(parse("250ms"), Ok(250));
    assert_eq!(parse("1s250ms"), Ok(1_250));
}

#[test]
fn writes_what_it_reads() {
    for text in ["1h30m", "2d3h", "1s250ms", "45s"] {
        assert_eq!(parse(text).map(format).as_deref(), Ok(text));
    }
}

#[test]
fn refuses_what_is_no_span() {
    assert_eq!(parse(""), Err(ParseError::Empty));
    assert_eq!(parse("h"), Err(ParseError::MissingNumber("h".to_string())));
    assert_eq!(parse("5x"), Err(ParseError::UnknownUnit("x".to_string())));
    assert_eq!(parse("99999999999999999999d"), Err(ParseError::TooLong));
}
