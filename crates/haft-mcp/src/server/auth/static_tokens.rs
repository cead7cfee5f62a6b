use crate::server::authenticator::{AuthenticationError, Authenticator};
use crate::server::caller::Principal;
use async_trait::async_trait;
use haft_tools_core::{PrivateFileError, PrivateFiles, Redactor};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

/// How many characters a token has at least: 128 bits of hexadecimal digits.
const SHORTEST: usize = 32;
/// How many tokens there may be, each of which costs a comparison for every request.
const MOST: usize = 1_000;

/// Knows callers by tokens that were given out by hand, each under a name.
///
/// Only the tokens' digests are kept, and one is compared with all of them in a time that says nothing of any. A name may
/// have several tokens, so that one can take the place of another.
///
/// ```
/// use haft_mcp::StaticTokens;
///
/// let tokens = StaticTokens::default().token("alice", &"0123456789abcdef".repeat(2))?;
/// assert!(StaticTokens::default().token("bob", "too short").is_err());
/// # let _ = tokens;
/// # Ok::<(), haft_mcp::StaticTokensError>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct StaticTokens {
    tokens: Vec<([u8; 32], Principal)>,
}

/// Says why tokens cannot be used; no token is in it.
///
/// ```
/// use haft_mcp::{StaticTokens, StaticTokensError};
///
/// let error = StaticTokens::default().token("ann", "secret").unwrap_err();
/// assert!(matches!(error, StaticTokensError::Short { length: 6, .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StaticTokensError {
    /// It could be guessed.
    #[error(
        "the token of `{name}` has {length} characters, fewer than 32; make one with `openssl rand -hex 32`"
    )]
    Short {
        /// Whose it is.
        name: String,
        /// How long it is, in characters.
        length: usize,
    },
    /// No header can hold it.
    #[error(
        "the token of `{name}` has other characters than `A-Z a-z 0-9 - . _ ~ + / =`; make one with `openssl rand -hex 32`"
    )]
    Characters {
        /// Whose it is.
        name: String,
    },
    /// It is no name, or that of the owner of this process.
    #[error("`{name}` is not a name of a token; write up to 64 of `A-Z a-z 0-9 - . _`, and not `local`")]
    Name {
        /// The name.
        name: String,
    },
    /// The same token stands twice, so that it is not said whose it is.
    #[error("the tokens of `{first}` and `{second}` are the same; give each its own")]
    Twice {
        /// Whose it is.
        first: String,
        /// And whose.
        second: String,
    },
    /// There are too many.
    #[error("there are more than 1,000 tokens; use an authorization server for so many callers")]
    TooMany,
    /// A line of the file is none of a token.
    #[error(
        "line {line} of `{path}` is not a name and token with a space between; lines that begin with `#` are notes"
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// There is no file, or none in it.
    #[error(
        "there is no token in `{path}`; write a line `NAME TOKEN` into it, and make it private with `chmod 600`"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read, or others than its owner can.
    #[error("cannot read tokens")]
    File(#[from] PrivateFileError),
}

impl StaticTokens {
    /// Knows one more token. The name becomes the caller's.
    ///
    /// # Errors
    ///
    /// When the name is none, the token is shorter than 32 characters, has other characters than a header can hold, or is
    /// another's.
    pub fn token(mut self, name: &str, token: &str) -> Result<Self, StaticTokensError> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if name.is_empty()
            || name.len() > 64
            || [Principal::local(), Principal::anyone()].iter().any(|taken| taken.as_str() == name)
            || !name.bytes().all(is_name)
        {
            return Err(StaticTokensError::Name { name: crate::shown::line(name, 64) });
        }
        let name = name.to_owned();
        let is_token = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
        };
        if !token.bytes().all(is_token) {
            return Err(StaticTokensError::Characters { name });
        }
        if token.len() < SHORTEST {
            return Err(StaticTokensError::Short { name, length: token.len() });
        }
        let digest: [u8; 32] = Sha256::digest(token).into();
        if let Some((_, first)) = self.tokens.iter().find(|(known, _)| *known == digest) {
            return Err(StaticTokensError::Twice { first: first.as_str().to_owned(), second: name });
        }
        if self.tokens.len() == MOST {
            return Err(StaticTokensError::TooMany);
        }
        self.tokens.push((digest, Principal::new(name)));
        Ok(self)
    }

    /// Reads tokens from a file that its owner alone can read: on each line a name, a space and its token.
    ///
    /// Empty lines and those that begin with `#` are passed over. May block.
    ///
    /// # Errors
    ///
    /// When others can read it, it cannot be read, a line is none of a token, or there is none.
    pub fn from_file(path: &Path) -> Result<Self, StaticTokensError> {
        Self::read(path, |_| {})
    }

    /// Reads tokens [from a file](Self::from_file), and has a redactor know them, so that nothing that it redacts shows one.
    ///
    /// A token that is too short to be told from other text is left. May block.
    ///
    /// # Errors
    ///
    /// As of [`from_file`](Self::from_file); tokens of the lines before are known to the redactor then.
    pub fn from_file_redacted(path: &Path, redactor: &Redactor) -> Result<Self, StaticTokensError> {
        Self::read(path, |token| {
            let _ = redactor.add(token);
        })
    }

    fn read(path: &Path, mut known: impl FnMut(&str)) -> Result<Self, StaticTokensError> {
        let empty = || StaticTokensError::Empty { path: path.to_owned() };
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(empty)?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let text = PrivateFiles::new(directory.unwrap_or(Path::new("."))).read(name)?.ok_or_else(empty)?;
        let mut tokens = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, token) = line
                .split_once(char::is_whitespace)
                .ok_or_else(|| StaticTokensError::Line { path: path.to_owned(), line: number + 1 })?;
            known(token.trim_start());
            tokens = tokens.token(name, token.trim_start())?;
        }
        if tokens.tokens.is_empty() { Err(empty()) } else { Ok(tokens) }
    }

    /// Finds whose a token is; looks at all of them, whichever it is.
    fn find(&self, token: &str) -> Option<&Principal> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let mut found = u32::MAX;
        for (place, (known, _)) in (0_u32..).zip(&self.tokens) {
            let is_it: Choice = known.ct_eq(&digest);
            found.conditional_assign(&place, is_it);
        }
        self.tokens.get(usize::try_from(found).ok()?).map(|(_, principal)| principal)
    }
}

#[async_trait]
impl Authenticator for StaticTokens {
    async fn check(&self, bearer: Option<&str>) -> Result<Principal, AuthenticationError> {
        let token = bearer.ok_or_else(|| AuthenticationError::Unknown("there is no token".into()))?;
        self.find(token).cloned().ok_or_else(|| {
            AuthenticationError::Unknown("the token is none of those that are known here".into())
        })
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tokens.iter().map(|(_, principal)| principal.as_str())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const ALICE: &str = "alice-0123456789abcdef0123456789";
    const BOB: &str = "bob-0123456789abcdef0123456789ab";

    async fn check(tokens: &StaticTokens, bearer: Option<&str>, expected: Result<&str, &str>) {
        let checked = tokens.check(bearer).await;
        let expected =
            expected.map(Principal::new).map_err(|why| AuthenticationError::Unknown(why.to_owned()));
        assert_eq!(checked, expected);
    }

    #[tokio::test]
    async fn knows_callers_by_their_tokens() {
        let tokens = StaticTokens::default().token("alice", ALICE).unwrap().token("bob", BOB).unwrap();
        check(&tokens, Some(ALICE), Ok("alice")).await;
        check(&tokens, Some(BOB), Ok("bob")).await;
        check(&tokens, Some(&ALICE[1..]), Err("the token is none of those that are known here")).await;
        check(&tokens, Some(""), Err("the token is none of those that are known here")).await;
        check(&tokens, None, Err("there is no token")).await;
        check(&StaticTokens::default(), Some(ALICE), Err("the token is none of those that are known here"))
            .await;
        assert_eq!(format!("{tokens:?}"), r#"["alice", "bob"]"#);
    }

    #[test]
    fn refuses_what_is_no_name_or_no_token() {
        let check = |name: &str, token: &str, expected: expect_test::Expect| {
            let tokens = StaticTokens::default().token("alice", ALICE).unwrap();
            expected.assert_eq(&tokens.token(name, token).unwrap_err().to_string());
        };
        check(
            "bob",
            &BOB[1..],
            expect![
                "the token of `bob` has 31 characters, fewer than 32; make one with `openssl rand -hex 32`"
            ],
        );
        check(
            "bob",
            &format!("{BOB}\""),
            expect![
                "the token of `bob` has other characters than `A-Z a-z 0-9 - . _ ~ + / =`; make one with `openssl rand -hex 32`"
            ],
        );
        check("bob", ALICE, expect!["the tokens of `alice` and `bob` are the same; give each its own"]);
        check(
            "local",
            BOB,
            expect![
                "`local` is not a name of a token; write up to 64 of `A-Z a-z 0-9 - . _`, and not `local`"
            ],
        );
        check(
            "a\nb",
            BOB,
            expect![
                "`a\\nb` is not a name of a token; write up to 64 of `A-Z a-z 0-9 - . _`, and not `local`"
            ],
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn reads_a_file_that_its_owner_alone_can_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("tokens");
        let read = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            StaticTokens::from_file(&path)
        };
        let tokens = read(&format!("# people\n\nalice {ALICE}\n  bob\t {BOB}\r\n"), 0o600).unwrap();
        check(&tokens, Some(BOB), Ok("bob")).await;
        assert!(matches!(
            read(&format!("alice {ALICE}"), 0o640),
            Err(StaticTokensError::File(PrivateFileError::Open { .. }))
        ));
        assert!(matches!(
            read(&format!("a {ALICE}\n{BOB}"), 0o600),
            Err(StaticTokensError::Line { line: 2, .. })
        ));
        assert!(matches!(read("# nobody", 0o600), Err(StaticTokensError::Empty { .. })));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(StaticTokens::from_file(&path), Err(StaticTokensError::Empty { .. })));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_redactor_knows_the_tokens_of_a_file_and_not_the_names() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("tokens");
        std::fs::write(&path, format!("# people\nalice {ALICE}\n  bob\t {BOB}\r\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let redactor = Redactor::new();
        let tokens = StaticTokens::from_file_redacted(&path, &redactor).unwrap();
        check(&tokens, Some(ALICE), Ok("alice")).await;
        let said = format!("people: alice has {ALICE}, bob has {BOB}");
        assert_eq!(redactor.redact(&said), "people: alice has [redacted], bob has [redacted]");
    }
}
