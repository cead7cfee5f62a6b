use crate::small_file::bytes_of;
use anyhow::{Context as _, Result, anyhow};
use haft::openapi::{ClientCredentials, Credential, Secret};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Says what is shown for a security scheme of a document, and where it is kept.
#[derive(Clone, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) enum CredentialSettings {
    Secret(Kept),
    Basic { user: String, password: Kept },
    Client { id: String, secret: Kept, token_url: Option<String>, scopes: Option<Vec<String>>, in_body: bool },
}

/// Is a secret, or the file that has it.
#[derive(Clone)]
pub(super) enum Kept {
    Here(Secret),
    In(PathBuf),
}

/// The most bytes of a file with a secret.
const MOST_BYTES: u64 = 64 * 1024;

/// Is the fields of a credential: those of one kind.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "CredentialFields")]
struct Fields {
    /// The secret; write it as `${VAR}`.
    secret: Option<String>,
    /// The file that the secret is in.
    secret_file: Option<PathBuf>,
    /// The user of HTTP Basic.
    user: Option<String>,
    /// The password; write it as `${VAR}`.
    password: Option<String>,
    /// The file that the password is in.
    password_file: Option<PathBuf>,
    /// The client that fetches tokens by itself.
    client_id: Option<String>,
    /// Its secret; write it as `${VAR}`.
    client_secret: Option<String>,
    /// The file that its secret is in.
    client_secret_file: Option<PathBuf>,
    /// Where tokens are fetched, in the place of what the document says.
    token_url: Option<String>,
    /// What is asked for.
    scopes: Option<Vec<String>>,
    /// Whether the client names itself in the body (`client_secret_post`) and not in a header.
    in_body: Option<bool>,
}

/// A text is the secret itself; a table has the fields of one of the kinds.
impl JsonSchema for CredentialSettings {
    fn schema_name() -> Cow<'static, str> {
        "Credential".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let fields = generator.subschema_for::<Fields>();
        json_schema!({ "anyOf": [{ "type": "string", "description": "The secret; write it as `${VAR}`." }, fields] })
    }
}

impl TryFrom<toml::Value> for CredentialSettings {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        if let toml::Value::String(secret) = value {
            return Ok(Self::Secret(Kept::Here(Secret::new(secret))));
        }
        let fields: Fields = value.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let Fields { secret, secret_file, user, password, password_file, .. } = fields;
        let secret = kept(secret, secret_file, "secret")?;
        let password = kept(password, password_file, "password")?;
        let client_secret = kept(fields.client_secret, fields.client_secret_file, "client_secret")?;
        let is_of_client = fields.token_url.is_some() || fields.scopes.is_some() || fields.in_body.is_some();
        match (secret, (user, password), (fields.client_id, client_secret)) {
            (Some(secret), (None, None), (None, None)) if !is_of_client => Ok(Self::Secret(secret)),
            (None, (Some(user), Some(password)), (None, None)) if !is_of_client => {
                Ok(Self::Basic { user, password })
            }
            (None, (None, None), (Some(id), Some(secret))) => {
                let (token_url, scopes) = (fields.token_url, fields.scopes);
                Ok(Self::Client { id, secret, token_url, scopes, in_body: fields.in_body.unwrap_or_default() })
            }
            _ => Err("a credential is a text, or a table of `secret` or `secret_file`, of `user` and `password`, or of \
                      `client_id` and `client_secret`"
                .to_owned()),
        }
    }
}

fn kept(here: Option<String>, file: Option<PathBuf>, name: &str) -> Result<Option<Kept>, String> {
    match (here, file) {
        (Some(_), Some(_)) => Err(format!("there is `{name}` and `{name}_file`; write one of them")),
        (Some(here), None) => Ok(Some(Kept::Here(Secret::new(here)))),
        (None, Some(file)) => Ok(Some(Kept::In(file))),
        (None, None) => Ok(None),
    }
}

impl CredentialSettings {
    /// The address where tokens are fetched, if the configuration names it.
    pub(super) fn token_url(&self) -> Option<&str> {
        match self {
            Self::Client { token_url, .. } => token_url.as_deref(),
            Self::Secret(_) | Self::Basic { .. } => None,
        }
    }

    /// Gives the secret itself, if it can be read.
    pub(super) fn kept(&self, found: &dyn Fn(&Path) -> PathBuf) -> Option<String> {
        let (Self::Secret(kept) | Self::Basic { password: kept, .. } | Self::Client { secret: kept, .. }) =
            self;
        Some(kept.read(found).ok()?.expose().to_owned())
    }

    /// Reads the files that secrets are in; `found` says where a path leads.
    pub(super) fn credential(&self, found: &dyn Fn(&Path) -> PathBuf) -> Result<Credential> {
        Ok(match self {
            Self::Secret(secret) => Credential::secret(secret.read(found)?),
            Self::Basic { user, password } => Credential::basic(user.clone(), password.read(found)?),
            Self::Client { id, secret, token_url, scopes, in_body } => {
                let client = ClientCredentials::new(id.clone(), secret.read(found)?);
                let mut client = client.in_body(*in_body);
                if let Some(url) = token_url {
                    // It may hold what a variable was replaced by, so it is not quoted.
                    client = client.token_url(url).map_err(|_| {
                        anyhow!(
                            "`token_url` cannot be used; write an address of `https`, or of `http` on this machine, as in \
                             `https://login.example.com/token`"
                        )
                    })?;
                }
                if let Some(scopes) = scopes {
                    client = client.scopes(scopes.clone());
                }
                client.into()
            }
        })
    }
}

impl Kept {
    fn read(&self, found: &dyn Fn(&Path) -> PathBuf) -> Result<Secret> {
        match self {
            Self::Here(secret) => Ok(secret.clone()),
            Self::In(path) => {
                let path = found(path);
                let unreadable = || format!("cannot read the secret in `{}`", path.display());
                let bytes = bytes_of(&path, MOST_BYTES).with_context(unreadable)?;
                let text = String::from_utf8(bytes).map_err(|_| anyhow!("it is not UTF-8"));
                Ok(Secret::new(text.with_context(unreadable)?))
            }
        }
    }
}
