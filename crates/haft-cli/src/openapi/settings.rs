use super::credential::CredentialSettings;
use crate::known_secrets::{of_address, of_named};
use crate::small_file::bytes_of;
use anyhow::{Context as _, Result, anyhow};
use haft::http::{AddressPolicy, HttpClient};
use haft::openapi::{
    Credential, Document, FormStyle, LoadOptions, OpenApiTools, References, Selection, ServerOrigin,
};
use haft::tools_core::Redactor;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use url::Url;

/// The most bytes of a file with certificates: all that browsers trust take a quarter of it.
const MOST_CA_BYTES: u64 = 1 << 20;

/// Is what the configuration, or the command line, says of an OpenAPI document.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the configuration")]
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = with_earlier_names)]
pub(super) struct Settings {
    /// A path, or an address of HTTP.
    pub(super) document: String,
    /// Leaves the document out.
    pub(super) disabled: bool,
    /// Where the API is, in the place of what the document says.
    pub(super) server: Option<String>,
    /// What stands for the variables of the document's servers.
    variables: BTreeMap<String, String>,
    /// Whether files beside the document are read that it refers to.
    references: bool,
    /// How objects are written in forms and query strings: `spec`, `brackets` or `indexed`.
    forms: Forms,
    /// Headers that each request is given; write secrets as `${VAR}`.
    headers: BTreeMap<String, String>,
    /// What is shown for the document's security schemes, by their names: a secret, or a table of one or of where it is.
    credentials: BTreeMap<String, CredentialSettings>,
    /// Other places that requests with credentials may go to, as in `https://api.example.com`.
    allow_origins: Vec<String>,
    /// A file of certificates (PEM) of authorities that are trusted besides the system's.
    #[serde(alias = "ca")]
    authorities: Option<PathBuf>,
    /// Which operations become tools.
    pub(super) select: Select,
    /// Tells models the schemas of results, too.
    output_schemas: bool,
    /// Calls need no order, since the service keeps them apart.
    orders_itself: bool,
    /// From how many operations on they are found by a search only.
    defer_above: Option<usize>,
}

/// Says which operations become tools.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Select {
    /// Only operations with one of these tags.
    pub(super) tags: Vec<String>,
    /// No operation with one of these tags.
    without_tags: Vec<String>,
    /// Only operations of these methods of HTTP.
    pub(super) methods: Vec<String>,
    /// Only operations whose path fits one of these patterns.
    pub(super) paths: Vec<String>,
    /// No operation whose path fits one of these patterns.
    without_paths: Vec<String>,
    /// Only these operations, by their ids.
    operations: Vec<String>,
    /// Not these operations, by their ids.
    without_operations: Vec<String>,
    /// No operation that is deprecated.
    pub(super) without_deprecated: bool,
    /// What is made of `x-mcp` and the like: `honoured`, `required` or `ignored`.
    switches: Switches,
}

/// Says what is made of `x-mcp` and the like.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Switches {
    #[default]
    Honoured,
    Required,
    Ignored,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Forms {
    #[default]
    Spec,
    Brackets,
    Indexed,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            document: String::new(),
            disabled: false,
            server: None,
            variables: BTreeMap::new(),
            references: true,
            forms: Forms::default(),
            headers: BTreeMap::new(),
            credentials: BTreeMap::new(),
            allow_origins: Vec::new(),
            authorities: None,
            select: Select::default(),
            output_schemas: false,
            orders_itself: false,
            defer_above: None,
        }
    }
}

/// Adds the name that a key had before, by which it is read, too.
fn with_earlier_names(schema: &mut Schema) {
    let Some(properties) = schema.get_mut("properties") else { return };
    let mut earlier = properties["authorities"].clone();
    earlier["description"] = "The same as `authorities`.".into();
    earlier["deprecated"] = true.into();
    properties["ca"] = earlier;
}

impl Settings {
    /// Says nothing of a document but where it is.
    pub(super) fn of(document: &str) -> Self {
        Self { document: document.to_owned(), ..Self::default() }
    }

    /// Tells whether the document is asked for over HTTP.
    pub(super) fn is_remote(&self) -> bool {
        Url::parse(&self.document).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    }

    /// Makes the client that the document is read and its operations are called with.
    ///
    /// The hosts that a person has named may be on this machine or in their own network; what the document names may not.
    pub(super) fn client(&self, found: &dyn Fn(&Path) -> PathBuf) -> Result<HttpClient> {
        let token_urls = self.credentials.values().filter_map(CredentialSettings::token_url);
        let named = self.server.iter().chain(&self.allow_origins).map(String::as_str).chain(token_urls);
        let named = named.chain(self.is_remote().then_some(self.document.as_str()));
        let hosts = named.filter_map(|url| Url::parse(url).ok()?.host_str()?.parse().ok());
        let mut builder = HttpClient::builder(hosts.fold(AddressPolicy::public(), AddressPolicy::host));
        if let Some(authorities) = &self.authorities {
            let path = found(authorities);
            let pem = bytes_of(&path, MOST_CA_BYTES)
                .with_context(|| format!("cannot read the certificates in `{}`", path.display()))?;
            builder = builder.authorities(pem);
        }
        Ok(builder.build()?)
    }

    /// Says how the document is read; `folder` is where it is, if it is a file.
    pub(super) fn load_options(&self, folder: Option<&Path>) -> LoadOptions {
        let mut options = LoadOptions::default().forms(match self.forms {
            Forms::Spec => FormStyle::Spec,
            Forms::Brackets => FormStyle::Brackets,
            Forms::Indexed => FormStyle::Indexed,
        });
        if let Some(server) = &self.server {
            options = options.server(server);
        }
        for (name, value) in &self.variables {
            options = options.server_variable(name, value);
        }
        match folder {
            _ if !self.references => options,
            None => options.references(References::SameOrigin),
            Some(folder) => options.references(References::Directory(folder.to_owned())),
        }
    }

    /// Gathers the secrets that operations are called with; `found` says where a path leads.
    pub(super) fn secrets(&self, found: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
        let credentials = self.credentials.values().filter_map(|credential| credential.kept(found));
        let headers = self.headers.iter().filter_map(|(name, value)| of_named(name, value));
        let addresses = self.server.iter().chain([&self.document]).flat_map(|address| of_address(address));
        credentials.chain(headers).chain(addresses).collect()
    }

    /// Makes tools of a document.
    pub(super) fn tools(
        &self,
        name: &str,
        document: Document,
        client: HttpClient,
        found: &dyn Fn(&Path) -> PathBuf,
        redactor: Option<Redactor>,
    ) -> Result<OpenApiTools> {
        let mut credentials: BTreeMap<String, Credential> = BTreeMap::new();
        for (scheme, settings) in &self.credentials {
            let credential = settings.credential(found);
            credentials
                .insert(scheme.clone(), credential.with_context(|| format!("in `credentials.{scheme}`"))?);
        }
        let mut builder = OpenApiTools::builder(name, document, client)
            .selection(self.select.selection()?)
            .credentials(credentials)
            .output_schemas(self.output_schemas)
            .orders_itself(self.orders_itself);
        if let Some(redactor) = redactor {
            builder = builder.redactor(redactor);
        }
        for origin in &self.allow_origins {
            // What is written there may hold what a variable was replaced by, so it is not quoted.
            let origin: ServerOrigin = origin.parse().map_err(|_| {
                anyhow!(
                    "in `allow_origins`: an entry is not an origin; write one as `https://api.example.com` or \
                     `http://127.0.0.1:8080`, without a user and a path"
                )
            })?;
            builder = builder.allow_origin(origin);
        }
        for (name, value) in &self.headers {
            let header =
                name.parse().with_context(|| format!("no header can be called `{name}`; correct it"))?;
            builder = builder.header(header, value.as_str());
        }
        if let Some(count) = self.defer_above {
            builder = builder.defer_above(count);
        }
        Ok(builder.build())
    }
}

impl Select {
    pub(super) fn selection(&self) -> Result<Selection> {
        let mut methods = Vec::new();
        for method in &self.methods {
            let parsed = method.to_ascii_uppercase().parse();
            methods.push(
                parsed.with_context(|| {
                    format!("`{method}` is not a method of HTTP; write one such as `get`")
                })?,
            );
        }
        let selection = Selection::default()
            .tags(self.tags.iter().cloned())
            .without_tags(self.without_tags.iter().cloned())
            .methods(methods)
            .paths(self.paths.iter().map(String::as_str))?
            .without_paths(self.without_paths.iter().map(String::as_str))?
            .operations(self.operations.iter().cloned())
            .without_operations(self.without_operations.iter().cloned());
        let selection = match self.switches {
            Switches::Honoured => selection,
            Switches::Required => selection.only_switched_on(),
            Switches::Ignored => selection.ignoring_switches(),
        };
        Ok(if self.without_deprecated { selection.without_deprecated() } else { selection })
    }
}
