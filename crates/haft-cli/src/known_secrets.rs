//! The secrets that are configured for what haft talks to: nothing may show them.

use crate::config::{Configuration, Settings};
use crate::looks_secret::{looks_secret, names_secret, without_scheme};
use haft::Workdir;
use haft::tools_core::Redactor;

/// The fewest bytes of a secret that is one by its name alone: what is shorter is as likely a word of ordinary text.
const LEAST_BYTES: usize = 6;

/// Makes the redactor of what is configured in a directory: secrets of providers, MCP servers and OpenAPI documents.
pub(crate) fn redactor(configuration: &Configuration, settings: &Settings) -> Redactor {
    let redactor = Redactor::new();
    register(configuration, settings, &redactor);
    redactor
}

/// Registers the secrets of what is configured in a directory.
pub(crate) fn register(configuration: &Configuration, settings: &Settings, redactor: &Redactor) {
    add(settings.secrets(), redactor);
    add(configuration.secrets(), redactor);
}

/// As [`register`], for a directory of which nothing else is needed. Of files that cannot be read, somebody else says so.
pub(crate) fn register_of(workdir: &Workdir, redactor: &Redactor) {
    let Ok(configuration) = Configuration::read(workdir) else { return };
    if let Ok(settings) = Settings::of(&configuration) {
        add(settings.secrets(), redactor);
    }
    add(configuration.secrets(), redactor);
}

/// One that is too short to be told from other text is left.
fn add(secrets: Vec<String>, redactor: &Redactor) {
    for secret in secrets {
        let _ = redactor.add(&secret);
    }
}

/// Gives what of a value is a secret, by the value or by what it is called.
pub(crate) fn of_named(name: &str, value: &str) -> Option<String> {
    let value = without_scheme(value).trim();
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let by_name = names_secret(name) && value.len() >= LEAST_BYTES && !is_number;
    (by_name || looks_secret(value)).then(|| value.to_owned())
}

/// Gives what of an address is a secret: a password, and what is called like one behind the `?`.
pub(crate) fn of_address(address: &str) -> Vec<String> {
    let Ok(url) = url::Url::parse(address) else { return Vec::new() };
    let password = url
        .password()
        .map(|password| percent_encoding::percent_decode_str(password).decode_utf8_lossy().into_owned());
    let pairs = url.query_pairs().filter_map(|(name, value)| of_named(&name, &value));
    password.into_iter().chain(pairs).collect()
}

/// Reads a variable of the environment.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_secret_is_told_by_its_name_and_by_itself() {
        for (name, value, secret) in [
            ("API_TOKEN", "hunter2", Some("hunter2")),
            ("Authorization", "Bearer hunter2", Some("hunter2")),
            ("PASSWORD", "  padded-one ", Some("padded-one")),
            ("TEAM", "ghp_0123", Some("ghp_0123")),
            ("TEAM", "0123456789abcdef0123456789abcdef", Some("0123456789abcdef0123456789abcdef")),
            ("SSH_PASSPHRASE", "open sesame", Some("open sesame")),
            ("TEAM", "red", None),
            ("REGION", "us-east-1", None),
            ("TOKEN_LIMIT", "1000000", None),
            ("AUTH_MODE", "none", None),
            ("TOKEN", "", None),
        ] {
            assert_eq!(of_named(name, value).as_deref(), secret, "{name}={value}");
        }
        let address = "postgres://ann:p%40ssword@db.example/x?sslmode=require&api_key=abcdef0";
        assert_eq!(of_address(address), ["p@ssword", "abcdef0"]);
        assert_eq!(of_address("https://example.com/mcp?zone=europe"), [] as [&str; 0]);
        assert_eq!(of_address("no address"), [] as [&str; 0]);
    }
}
