use crate::auth::client_credentials::ClientUse;
use crate::auth::requirement::{Requirement, SchemeUse};
use crate::auth::server_origin::is_confidential;
use crate::auth::{Credential, Credentials, Scheme, Schemes, Secret, ServerOrigin, TokenSource};
use crate::text::line;
use haft_core::ToolError;
use std::fmt;
use std::sync::Arc;
use url::Url;

/// Knows what the host has, and to whom it may be sent.
pub(crate) struct Keyring {
    /// What the document is called here.
    pub(crate) document: String,
    pub(crate) schemes: Schemes,
    pub(crate) credentials: Box<dyn Credentials>,
    pub(crate) origins: Vec<ServerOrigin>,
}

/// Is what one request shows.
#[derive(Debug, Default)]
pub(crate) struct Grant {
    pub(crate) shown: Vec<Shown>,
    /// Whether the request may be sent without it.
    pub(crate) is_optional: bool,
}

/// Is what is shown of one scheme.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) name: String,
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) with: With,
}

pub(crate) enum With {
    Secret(Secret),
    Basic { user: String, password: Secret },
    Client(Box<ClientUse>),
    Tokens(Arc<dyn TokenSource>),
}

/// Says why a scheme of a way is not shown.
enum Lack {
    /// The host has nothing for it.
    Nothing(String),
    /// It cannot be shown whatever the host has.
    Unusable(String, String),
}

impl Keyring {
    /// Tells whether credentials may be sent there.
    pub(crate) fn allows(&self, origin: &ServerOrigin) -> bool {
        self.origins.contains(origin)
    }

    /// Chooses what a request shows: the first way that the host has everything for.
    pub(crate) fn grant(&self, requirement: &Requirement, url: &Url) -> Result<Grant, ToolError> {
        let mut lacks = Vec::new();
        let mut chosen = None;
        for way in requirement.ways.iter().filter(|way| !way.is_empty()) {
            match way.iter().map(|wanted| self.shown(wanted)).collect::<Result<Vec<_>, _>>() {
                Ok(shown) => {
                    chosen = Some(Grant { shown, is_optional: requirement.is_optional() });
                    break;
                }
                Err(lack) => lacks.push(lack),
            }
        }
        let Some(grant) = chosen else {
            return if requirement.is_optional() { Ok(Grant::default()) } else { Err(self.missing(&lacks)) };
        };
        match ServerOrigin::of(url) {
            Some(origin) if self.allows(&origin) => Ok(grant),
            _ if requirement.is_optional() => Ok(Grant::default()),
            origin => Err(self.elsewhere(&grant, origin.as_ref())),
        }
    }

    fn shown(&self, wanted: &SchemeUse) -> Result<Shown, Lack> {
        let name = || line(&wanted.scheme, 100);
        let unusable = |why: &str| Lack::Unusable(name(), why.to_owned());
        let scheme = self.schemes.get(&wanted.scheme).map_err(unusable)?;
        let credential = self.credentials.credential(&wanted.scheme).ok_or_else(|| Lack::Nothing(name()))?;
        let with = match (&**scheme, credential) {
            (Scheme::Basic, Credential::Basic { user, password }) => With::Basic { user, password },
            (Scheme::Basic, other) => {
                return Err(unusable(&format!(
                    "it wants a user and a password, and was given {}",
                    other.kind()
                )));
            }
            (_, Credential::Secret(secret)) => With::Secret(secret),
            (Scheme::Bearer { .. } | Scheme::OAuth { .. } | Scheme::OpenId, Credential::Tokens(source)) => {
                With::Tokens(source)
            }
            (Scheme::OAuth { token_url }, Credential::Client(client)) => {
                let said = token_url.as_deref().and_then(|url| Url::parse(url).ok()).filter(is_confidential);
                let of_document =
                    said.filter(|url| ServerOrigin::of(url).is_some_and(|origin| self.allows(&origin)));
                let Some(token_url) = client.token_url.clone().or(of_document) else {
                    return Err(unusable(
                        "it is not said by the host where its tokens are fetched, and where the document says is not an \
                         allowed origin, or is neither `https` nor on this machine",
                    ));
                };
                let mut scopes = client.scopes.clone().unwrap_or_else(|| wanted.scopes.clone());
                scopes.sort_unstable();
                scopes.dedup();
                With::Client(Box::new(ClientUse { scheme: name(), client, token_url, scopes }))
            }
            (_, other) => return Err(unusable(&format!("{} cannot be shown for it", other.kind()))),
        };
        Ok(Shown { name: name(), scheme: Arc::clone(scheme), with })
    }

    fn missing(&self, lacks: &[Lack]) -> ToolError {
        let document = &self.document;
        let said: Vec<String> = lacks
            .iter()
            .map(|lack| match lack {
                Lack::Nothing(scheme) => format!("`{scheme}`, for which there is none"),
                Lack::Unusable(scheme, why) => format!("`{scheme}`, which cannot be used: {why}"),
            })
            .collect();
        ToolError::unauthenticated(
            "",
            format!(
                "the API `{document}` wants a credential: {}; nothing was sent, ask the person who set it up to give one",
                said.join("; or ")
            ),
        )
    }

    fn elsewhere(&self, grant: &Grant, origin: Option<&ServerOrigin>) -> ToolError {
        let document = &self.document;
        let names: Vec<String> = grant.shown.iter().map(|shown| format!("`{}`", shown.name)).collect();
        let origin = origin.map_or_else(|| "another server".to_owned(), |origin| format!("`{origin}`"));
        ToolError::denied(format!(
            "the credential {} of the API `{document}` may not be sent to {origin}, which nobody has allowed; nothing was \
             sent, ask the person who set it up to allow this origin if it is the right one",
            names.join(" and ")
        ))
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("origins", &self.origins).finish_non_exhaustive()
    }
}

impl fmt::Debug for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret(_) => "Secret(..)",
            Self::Basic { .. } => "Basic(..)",
            Self::Client(_) => "Client(..)",
            Self::Tokens(_) => "Tokens(..)",
        })
    }
}

#[cfg(test)]
mod tests;
