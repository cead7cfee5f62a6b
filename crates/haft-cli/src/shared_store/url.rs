use percent_encoding::percent_decode_str;
use std::fmt;
use std::str::FromStr;

/// Is where a database of `PostgreSQL` is, without a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreUrl(Box<str>);

impl StoreUrl {
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "a build without databases says only that it has none")
    )]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    /// Reads an address; what is wrong is said without it, as it may hold a secret.
    fn from_str(text: &str) -> Result<Self, String> {
        let rest = ["postgres://", "postgresql://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
        let Some(rest) = rest else {
            return Err(
                "this is not an address of a database; write one such as `postgres://haft@db.example.org/haft`"
                    .to_owned(),
            );
        };
        // As libpq reads it: what stands before the first `@` is a user, and behind a `:` a password.
        let (user, place) = rest.split_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
        let parameters = place.split_once('?').map_or("", |(_, parameters)| parameters);
        let is_password = |parameter: &str| {
            let name = parameter.split('=').next().unwrap_or_default();
            percent_decode_str(name).decode_utf8_lossy().contains("password")
        };
        if user.is_some_and(|user| user.contains(':')) || parameters.split('&').any(is_password) {
            return Err("a password has no place in it; take it out, set it as a variable of the environment and write that \
                        variable's name as `password`, or write it into a file and name that as `password_file`"
                .to_owned());
        }
        if place.chars().any(char::is_whitespace) {
            return Err("an address has no spaces; write `%20` for one".to_owned());
        }
        Ok(Self(text.into()))
    }
}

/// Without what stands behind a `?`, which says how it is reached and not where it is.
impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.split('?').next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::StoreUrl;

    #[test]
    fn an_address_has_no_password_and_is_shown_without_how_it_is_reached() {
        let read = |text: &str| text.parse::<StoreUrl>().map(|url| url.to_string());
        for (text, shown) in [
            ("postgres://haft@db.example.org/haft", "postgres://haft@db.example.org/haft"),
            ("postgresql://db:5433,other:5434/haft?sslmode=require", "postgresql://db:5433,other:5434/haft"),
            ("postgres://haft@[::1]:5432/haft", "postgres://haft@[::1]:5432/haft"),
            ("postgres://a%3Ab@%2Frun%2Fpostgresql/haft", "postgres://a%3Ab@%2Frun%2Fpostgresql/haft"),
        ] {
            assert_eq!(read(text), Ok(shown.to_owned()));
        }
        for secret in [
            "postgres://haft:hunter2@db.example.org/haft",
            "postgres://haft:@db.example.org/haft",
            "postgres://db/haft:hunter2@x",
            "postgres://haft@db.example.org/haft?sslmode=require&password=hunter2",
            "postgres://haft@db.example.org/haft?pass%77ord=hunter2",
        ] {
            let refused = read(secret).unwrap_err();
            assert!(
                refused.starts_with("a password has no place in it") && !refused.contains("hunter2"),
                "{refused}"
            );
        }
        for wrong in ["", "db.example.org/haft", "host=db password=hunter2", "https://db/haft", "postgres:/x"]
        {
            let refused = read(wrong).unwrap_err();
            assert!(
                refused.starts_with("this is not an address") && !refused.contains("hunter2"),
                "{refused}"
            );
        }
        assert!(read("postgres://haft@db/haft user=x").unwrap_err().contains("%20"));
    }
}
