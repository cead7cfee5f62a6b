use haft_core::{OutputId, RunId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;
use std::fmt;

const SCHEME: &str = "haft-output://";

/// The most bytes of an address that is looked at.
const MOST_BYTES: usize = 2 << 10;

/// Says where the whole of what was cut is: `haft-output://RUN/OUTPUT`, with `?lines=A-B` or `?bytes=A-B` for a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputAddress {
    pub(super) run: RunId,
    pub(super) output: OutputId,
    pub(super) part: Part,
}

/// Says which part of an output is meant; the last line and byte belong to it, and where there is none, all that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Counted from 1.
    Lines(u64, Option<u64>),
    /// Counted from 0, as HTTP does.
    Bytes(u64, Option<u64>),
}

/// Says why an address leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Astray {
    /// It is not one of an output.
    Foreign,
    /// What follows the `?` is no part.
    Part,
}

impl OutputAddress {
    pub(super) fn of(run: RunId, output: OutputId) -> Self {
        Self { run, output, part: Part::Whole }
    }

    pub(super) fn with(&self, part: Part) -> Self {
        Self { part, ..self.clone() }
    }

    /// Tells whether an address is one of an output, well made or not.
    pub(super) fn is_one(uri: &str) -> bool {
        uri.starts_with(SCHEME)
    }

    pub(super) fn read(uri: &str) -> Result<Self, Astray> {
        let rest = uri.strip_prefix(SCHEME).filter(|_| uri.len() <= MOST_BYTES).ok_or(Astray::Foreign)?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let (run, output) = path.split_once('/').ok_or(Astray::Foreign)?;
        let run = decoded(run).and_then(|run| run.parse().ok()).ok_or(Astray::Foreign)?;
        let output = decoded(output).and_then(|output| output.parse().ok()).ok_or(Astray::Foreign)?;
        let part = match query {
            None | Some("") => Part::Whole,
            Some(query) => Part::read(query).ok_or(Astray::Part)?,
        };
        Ok(Self { run, output, part })
    }
}

impl Part {
    fn read(query: &str) -> Option<Self> {
        let (unit, range) = query.split_once('=')?;
        let (first, last) = range.split_once('-')?;
        let number =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
        let first: u64 = number(first)?;
        let last: Option<u64> = if last.is_empty() { None } else { Some(number(last)?) };
        if last.is_some_and(|last| last < first) {
            return None;
        }
        match unit {
            "lines" if first > 0 => Some(Self::Lines(first, last)),
            "bytes" => Some(Self::Bytes(first, last)),
            _ => None,
        }
    }
}

impl fmt::Display for OutputAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, output, part } = self;
        write!(f, "{SCHEME}{}/{}", encoded(run.as_str()), encoded(output.as_str()))?;
        let (unit, first, last) = match *part {
            Part::Whole => return Ok(()),
            Part::Lines(first, last) => ("lines", first, last),
            Part::Bytes(first, last) => ("bytes", first, last),
        };
        write!(f, "?{unit}={first}-")?;
        last.map_or(Ok(()), |last| write!(f, "{last}"))
    }
}

/// What has to be written otherwise in an address: all but what RFC 3986 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}

fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let is_code = |rest: &str| rest.len() > 1 && rest.bytes().take(2).all(|digit| digit.is_ascii_hexdigit());
    let is_well_encoded = text.split('%').skip(1).all(is_code);
    is_well_encoded.then(|| percent_decode_str(text).decode_utf8().ok())?
}
