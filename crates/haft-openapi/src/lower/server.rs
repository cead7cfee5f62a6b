use super::place::Pointed;
use crate::LoadOptions;
use crate::document::{Inner, Version};
use crate::text::line;
use serde_json::Value;
use std::collections::BTreeMap;
use url::Url;

/// The most bytes of the address of a server.
const MOST_BYTES: usize = 8_000;

/// Says which server operations are on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Servers {
    /// The one that the host names for all.
    fixed: Option<String>,
    base: Option<String>,
    variables: BTreeMap<String, String>,
}

impl Servers {
    pub(crate) fn new(options: &LoadOptions) -> Self {
        Self {
            fixed: options.server.clone(),
            base: options.base_url.clone(),
            variables: options.variables.clone(),
        }
    }

    /// The addresses that the host itself has said: that of the server, and where the document was found.
    pub(crate) fn named_by_host(&self) -> impl Iterator<Item = &str> {
        self.fixed.as_deref().into_iter().chain(self.base.as_deref())
    }

    /// Finds the server of an operation: without a path behind it that ends in `/`, without query and fragment.
    pub(crate) fn of(
        &self,
        document: &Inner,
        item: &Pointed<'_>,
        operation: &Pointed<'_>,
    ) -> Result<String, String> {
        let stated = match &self.fixed {
            Some(fixed) => fixed.clone(),
            None => match document.version {
                Version::Swagger2 => self.of_host(document, operation),
                Version::V30 | Version::V31 => {
                    let root = Pointed::root(document);
                    let mut levels = [operation, item, &root].into_iter();
                    levels.find_map(|level| self.listed(level)).unwrap_or_else(|| "/".to_owned())
                }
            },
        };
        if stated.len() > MOST_BYTES {
            return Err("the address is too long".to_owned());
        }
        if stated.contains(['{', '}']) {
            return Err(format!("`{}` has a variable without a value", shortened(&stated)));
        }
        let url = match Url::parse(&stated) {
            Ok(url) => url,
            Err(url::ParseError::RelativeUrlWithoutBase) => {
                let base = self.base.as_deref().and_then(|base| Url::parse(base).ok());
                let base = base.ok_or_else(|| {
                    format!("the document says `{}`, and not which host that is on", shortened(&stated))
                })?;
                base.join(&stated).map_err(|error| error.to_string())?
            }
            Err(error) => return Err(format!("`{}` is not an address: {error}", shortened(&stated))),
        };
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(format!("`{}` is not an address of HTTP", shortened(&stated)));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address holds a user or a password".to_owned());
        }
        let path = url.path().trim_end_matches('/');
        Ok(format!("{}{path}", url.origin().ascii_serialization()))
    }

    /// Takes the first server of a level that has any.
    fn listed(&self, level: &Pointed<'_>) -> Option<String> {
        let servers = level.member("servers")?;
        let server = servers.items().next()?;
        let url = server.text("url")?;
        let url = url[..url.floor_char_boundary(MOST_BYTES + 1)].trim();
        let variables = server.get("variables");
        let mut filled = String::with_capacity(url.len());
        let mut rest = url;
        while let Some((before, from)) = rest.split_once('{')
            && filled.len() <= MOST_BYTES
        {
            let Some((name, after)) = from.split_once('}') else { break };
            filled.push_str(before);
            let default = variables.and_then(|variables| variables.get(name)?.get("default"));
            match (self.variables.get(name), default) {
                (Some(value), _) | (None, Some(Value::String(value))) => filled.push_str(value),
                (None, Some(Value::Number(value))) => filled.push_str(&value.to_string()),
                (None, _) => filled.extend(["{", name, "}"]),
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }

    fn of_host(&self, document: &Inner, operation: &Pointed<'_>) -> String {
        let root = Pointed::root(document);
        let bounded = |text: &'_ str| text[..text.floor_char_boundary(MOST_BYTES + 1)].to_owned();
        let path = bounded(root.text("basePath").unwrap_or("/"));
        let slash = if path.starts_with('/') { "" } else { "/" };
        let Some(host) = root.text("host").map(bounded) else { return format!("{slash}{path}") };
        let schemes = operation.get("schemes").or_else(|| root.get("schemes"));
        let schemes =
            schemes.and_then(Value::as_array).into_iter().flatten().take(10).filter_map(Value::as_str);
        let mut schemes: Vec<&str> = schemes.filter(|scheme| matches!(*scheme, "http" | "https")).collect();
        // Of two that are offered the safe one is taken.
        schemes.sort_unstable_by_key(|scheme| *scheme != "https");
        let base = || self.base.as_deref().and_then(|base| base.split_once("://")).map(|(scheme, _)| scheme);
        let scheme = schemes.first().copied().or_else(base).unwrap_or("https");
        format!("{scheme}://{host}{slash}{path}")
    }
}

fn shortened(text: &str) -> String {
    line(text, 200)
}
