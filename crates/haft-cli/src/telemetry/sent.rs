use crate::agent::SentHeader;
use crate::config::{Layer, TelemetryTable};
use crate::exit::UsageError;
use crate::named_host::NamedHost;
use anyhow::{Result, bail};
use bytes::Bytes;
use haft::http::{Body, Exchange, HttpClient, Retries};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use std::time::Duration;
use url::Url;

/// What a collector's address ends with for spans.
///
/// Source: <https://opentelemetry.io/docs/specs/otlp/#otlphttp-request>.
const PATH: &str = "v1/traces";

/// The one protocol that is spoken.
const PROTOCOL: &str = "http/protobuf";

/// How long one request may take where the environment does not say it.
///
/// Source: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of an answer: it says how many spans were refused, and why.
const MOST_ANSWER: u64 = 1024 * 1024;

/// Says where spans are sent, and what goes with them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) url: Url,
    /// Their values are marked as secrets.
    pub(crate) headers: HeaderMap,
    /// Whether arguments and results are sent, too.
    pub(crate) content: bool,
    /// How long one request may take.
    pub(crate) timeout: Duration,
}

/// Gives the value of a variable of the environment; one that is empty is not set.
type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Sent {
    /// Finds it in a table and in the variables that OpenTelemetry has for it, which go before the table.
    ///
    /// Headers go where they are said with: those of the table to its endpoint, those of the environment to that of the
    /// environment or of the person's own file.
    pub(super) fn of(
        table: Option<&(TelemetryTable, Layer)>,
        variable: Variable<'_>,
    ) -> Result<Option<Self>> {
        if variable("OTEL_SDK_DISABLED").is_some_and(|word| word.trim().eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|word| word.trim() == "none")
        {
            return Ok(None);
        }
        let of_environment = in_environment(variable);
        let (table, layer) = table.map_or((None, None), |(table, layer)| (Some(table), Some(*layer)));
        let of_table = table.and_then(|table| table.endpoint.as_deref());
        let (place, url) = match (of_environment, of_table) {
            (Some((name, text, adds_path)), _) => {
                protocol(variable)?;
                (name, address(name, &text, adds_path)?)
            }
            (None, Some(text)) => {
                let place = "`endpoint` of `[telemetry]`";
                let is_whole = text.trim_end_matches('/').ends_with(PATH);
                (place, address(place, text, !is_whole)?)
            }
            (None, None) => return Ok(None),
        };
        let is_of_environment = place.starts_with("OTEL");
        let mut headers = HeaderMap::new();
        if !is_of_environment {
            let written = table.and_then(|table| table.header.as_deref()).unwrap_or_default();
            for SentHeader { name, value, .. } in &SentHeader::written(written)? {
                add(&mut headers, "`header` of `[telemetry]`", name, value)?;
            }
        }
        if is_of_environment || layer == Some(Layer::User) {
            headers_of(variable, &mut headers)?;
        }
        let content = table.is_some_and(|table| table.content);
        let sent = Self { url, headers, content, timeout: timeout(variable)? };
        sent.check(place)?;
        Ok(Some(sent))
    }

    /// Names the host that is asked.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Says that this build cannot send what is to be sent, if it cannot.
    pub(crate) fn absent() -> Option<String> {
        let is_absent = !cfg!(feature = "otel");
        is_absent.then(|| {
            "spans are to be exported, and this `haft` was built without it; install it with `--features otel`".to_owned()
        })
    }

    /// The host, as one that a person has named.
    pub(crate) fn named_host(&self) -> NamedHost {
        let host =
            self.url.host().expect("an address of http has a host, and another is refused when it is read");
        NamedHost::new(host.to_owned(), true)
    }

    /// Sends spans, as a message that may be empty, and gives what is said to them.
    ///
    /// # Errors
    ///
    /// When they are not taken.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection; what was sent may have been taken all the same.
    pub(crate) async fn post(&self, client: &HttpClient, message: Bytes) -> Result<Body> {
        let mut request = http::Request::post(self.url.as_str()).body(message)?;
        request.headers_mut().extend(self.headers.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        let retries = Retries::default().within(self.timeout);
        let exchange = Exchange::default()
            .first_byte_timeout(self.timeout)
            .timeout(self.timeout)
            .most_bytes(MOST_ANSWER);
        let answer = client.send(request, exchange.retries(retries)).await?;
        let status = answer.status();
        if !status.is_success() {
            bail!("it answers with {status}");
        }
        Ok(answer.into_body())
    }

    /// Refuses what all could read on its way.
    fn check(&self, place: &str) -> Result<()> {
        let is_here = self.named_host().is_this_machine();
        if self.url.scheme() == "https" || is_here || (self.headers.is_empty() && !self.content) {
            return Ok(());
        }
        let what = if self.headers.is_empty() { "arguments and results" } else { "headers" };
        bail!(UsageError(format!(
            "{place} is asked over `http`, and {what} would be there for all to read; write `https`, or send none"
        )))
    }
}

/// Finds the endpoint in the environment: the variable, what it says, and whether the path is added to it.
fn in_environment(variable: Variable<'_>) -> Option<(&'static str, String, bool)> {
    let of = |name: &'static str, adds_path| Some((name, variable(name)?, adds_path));
    of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", false).or_else(|| of("OTEL_EXPORTER_OTLP_ENDPOINT", true))
}

/// Gives what a variable for spans says, or else the one for everything, with its name.
fn either(variable: Variable<'_>, what: &str) -> Option<(String, String)> {
    let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")];
    names.into_iter().find_map(|name| variable(&name).map(|value| (name, value)))
}

fn protocol(variable: Variable<'_>) -> Result<()> {
    match either(variable, "PROTOCOL") {
        Some((name, protocol)) if protocol.trim() != PROTOCOL => bail!(UsageError(format!(
            "`{name}` asks for another protocol than `{PROTOCOL}`, the one that haft speaks; unset it, and name the port that \
             the collector has for it, which is 4318 mostly"
        ))),
        _ => Ok(()),
    }
}

/// Reads the address of a collector; it is not quoted, since it may hold a password.
fn address(place: &str, text: &str, adds_path: bool) -> Result<Url> {
    const FORM: &str = "write one as in `http://127.0.0.1:4318`";
    let cannot = |why: &str| UsageError(format!("cannot use {place}: {why}"));
    let mut url =
        Url::parse(text.trim()).map_err(|_| cannot(&format!("it is not an absolute URL; {FORM}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        bail!(cannot(&format!("it is neither `http` nor `https`; {FORM}")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        bail!(cannot("it holds a user or a password; send it in a header"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        bail!(cannot(&format!("it holds more than a path; {FORM}")));
    }
    if adds_path {
        let path = format!("{}/{PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(url)
}

/// Reads headers as the environment has them: `NAME=VALUE,NAME=VALUE`, with what is no such text percent-encoded.
fn headers_of(variable: Variable<'_>, headers: &mut HeaderMap) -> Result<()> {
    let Some((place, text)) = either(variable, "HEADERS") else { return Ok(()) };
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let decoded = |text: &str| percent_decode_str(text.trim()).decode_utf8_lossy().into_owned();
        // It is not quoted: it may be a value.
        let form = || {
            UsageError(format!(
                "`{place}` holds what is not a header; write `NAME=VALUE`, with commas between"
            ))
        };
        let (name, value) = pair.split_once('=').ok_or_else(form)?;
        add(headers, &format!("`{place}`"), &decoded(name), &decoded(value))?;
    }
    Ok(())
}

fn add(headers: &mut HeaderMap, place: &str, name: &str, value: &str) -> Result<()> {
    let parsed: Result<HeaderName, _> = name.parse();
    // The name is not quoted either: in the wrong order it is the value.
    let name =
        parsed.map_err(|_| UsageError(format!("{place} holds a name that no header has; correct it")))?;
    let value = HeaderValue::from_str(value);
    let message =
        || UsageError(format!("the header `{name}` of {place} has a value that cannot be sent; correct it"));
    let mut value = value.map_err(|_| message())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

fn timeout(variable: Variable<'_>) -> Result<Duration> {
    let Some((name, text)) = either(variable, "TIMEOUT") else { return Ok(TIMEOUT) };
    match text.trim().parse() {
        Ok(milliseconds @ 1..=600_000) => Ok(Duration::from_millis(milliseconds)),
        _ => bail!(UsageError(format!("`{name}` is not a time; write milliseconds, from 1 to 600000"))),
    }
}

#[cfg(test)]
mod tests;
