use super::reading::parsed;
use crate::agent::arguments::ModelOptions;
use crate::agent::model_settings::{Like, ModelId, Wire};
use crate::exit::UsageError;
use anyhow::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::collections::BTreeMap;
use std::fmt;

/// A service whose models are called `NAME/MODEL`, by the name of its table.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProviderTable {
    /// Whose API it speaks: `anthropic` or `openai`. The providers of these names need not say it.
    like: Option<Like>,
    /// Where it is: `https`, or `http` on this machine, as in `https://api.example.org/v1`.
    base_url: Option<String>,
    /// The name of the variable of the environment that its key is in. Without it no key is sent, but to the providers
    /// `anthropic` and `openai`.
    #[serde(deserialize_with = "variable")]
    #[schemars(regex(pattern = r"^[A-Z_][A-Z0-9_]*$"))]
    key: Option<String>,
    /// The model that is meant where only the provider is named.
    model: Option<String>,
    /// Headers that are sent with every request, each as `NAME: VALUE`; `$NAME` at its end stands for a variable.
    #[serde(deserialize_with = "super::agent_table::headers")]
    header: Option<Vec<String>>,
    /// By which API of OpenAI's it is asked: `chat` or `responses`.
    wire: Option<Wire>,
}

/// Holds the providers that are configured, each by its name.
#[derive(Debug, Default)]
pub(crate) struct Providers(BTreeMap<ProviderName, ProviderTable>);

/// Names a provider; models are named `PROVIDER/MODEL`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProviderName(Box<str>);

/// Says of a model's provider what its name alone does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) like: Option<Like>,
    /// The variable that its key is in.
    pub(crate) key: Option<String>,
}

impl Resolved {
    /// The variable that the key of a model is in, if it has one: the key of one provider is not for another that only speaks
    /// like it.
    pub(crate) fn key_of(&self, id: &ModelId) -> Option<String> {
        self.key.clone().or_else(|| id.like().map(|like| like.variable().to_owned()))
    }
}

impl ProviderName {
    /// Reads a name: 1 to 32 letters, digits, `-` and `_`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = (1..=32).contains(&text.len()) && text.chars().all(is_part);
        fits.then(|| Self(text.into()))
    }

    /// Names one whose API is known.
    pub(crate) fn known(name: &'static str) -> Self {
        Self(name.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ProviderName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let form = "a provider's name has 1 to 32 letters, digits, `-` and `_`; rename it";
        Self::parse(&text).ok_or_else(|| D::Error::custom(form))
    }
}

impl ProviderTable {
    /// The variable that its key is in.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The headers that are sent with every request, as they are written.
    pub(super) fn headers(&self) -> impl Iterator<Item = &String> {
        self.header.iter().flatten()
    }

    pub(crate) fn base_url(&self) -> Option<&str> {
        self.base_url.as_deref()
    }
}

impl Providers {
    /// Adds the tables of another file, of which those take no name that is taken: a table of one file is never completed by
    /// another, so that no key of one goes where another says.
    pub(super) fn add(&mut self, tables: BTreeMap<ProviderName, ProviderTable>) {
        for (name, table) in tables {
            self.0.entry(name).or_insert(table);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ProviderName, &ProviderTable)> {
        self.0.iter()
    }

    /// Lists what is wrong with the providers, and with the model that is named.
    pub(super) fn problems(&self, model: Option<&ModelId>) -> Vec<String> {
        let any = self.0.keys().map(|name| ModelId::any_of(name.as_str()));
        let each = any.chain(model.cloned()).filter_map(|id| self.of(&id).err());
        let mut problems: Vec<String> = Vec::new();
        for problem in each {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems
    }

    /// Says where a model is asked and how, as far as the options do not.
    ///
    /// # Errors
    ///
    /// When there is no such provider, or it does not say what it has to.
    pub(crate) fn resolve(&self, options: &mut ModelOptions) -> Result<()> {
        let Some(id) = &options.model else { return Ok(()) };
        let (model, resolved, table) = self.of(id).map_err(UsageError)?;
        options.model = Some(model);
        options.provider = resolved;
        let Some(table) = table else { return Ok(()) };
        if options.base_url.is_none() {
            options.base_url.clone_from(&table.base_url);
            if options.header.is_empty() {
                options.header = table.header.clone().unwrap_or_default();
            }
        }
        options.wire = options.wire.or(table.wire);
        Ok(())
    }

    /// Finds the provider of a model, and the model that is meant.
    pub(crate) fn of(&self, id: &ModelId) -> Result<(ModelId, Resolved, Option<&ProviderTable>), String> {
        let (name, like) = (id.provider_name(), id.like());
        let Some(table) = self.0.get(&name) else {
            if like.is_none() {
                return Err(self.unknown(&name));
            }
            if id.name().is_empty() {
                return Err(format!("`{name}` names no model; write `{name}/NAME`"));
            }
            return Ok((id.clone(), Resolved::default(), None));
        };
        let model = match (id.name(), &table.model) {
            ("", Some(model)) => id.called(model),
            ("", None) => {
                return Err(format!(
                    "`{name}` names no model; write `{name}/NAME`, or `model` in `[providers.{name}]`"
                ));
            }
            _ => id.clone(),
        };
        let missing = |key: &str, example: &str| {
            format!(
                "the provider `{name}` does not say its `{key}`; write it in `[providers.{name}]`, as in `{key} = \"{example}\"`"
            )
        };
        let like = match (like, table.like) {
            (Some(like), Some(said)) if said != like => {
                return Err(format!(
                    "the provider `{name}` speaks its own API; remove `like` from `[providers.{name}]`"
                ));
            }
            (Some(_), _) => None,
            (None, None) => return Err(missing("like", "openai")),
            (None, Some(_)) if table.base_url.is_none() => {
                return Err(missing("base_url", "https://api.example.org/v1"));
            }
            (None, said) => said,
        };
        Ok((model, Resolved { like, key: table.key.clone() }, Some(table)))
    }

    fn unknown(&self, name: &ProviderName) -> String {
        let known = self.0.keys().map(ProviderName::as_str).chain(["anthropic", "openai"]);
        let near = haft::tools_core::listed(haft::tools_core::nearest(name.as_str(), known), "or");
        let instead = if near.is_empty() {
            format!(
                "write `anthropic/NAME` or `openai/NAME`, and where a service is that speaks like one of them with \
                 `--base-url` or in `[providers.{name}]` of your `haft.toml`"
            )
        } else {
            format!("did you mean {near}?")
        };
        format!("there is no provider `{name}`; {instead}")
    }
}

/// Reads the name of a variable, which no value of a key looks like.
fn variable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name: Option<VariableName> = parsed(deserializer)?;
    Ok(name.map(|name| name.0))
}

/// Tells whether a variable of the environment is called so, as they are by custom.
pub(super) fn is_variable_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    let fits = text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    starts && fits && text.len() <= 128
}

struct VariableName(String);

impl std::str::FromStr for VariableName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // What is written is not repeated: it may be the key itself.
        is_variable_name(text).then(|| Self(text.to_owned())).ok_or(
            "this is the name of a variable of the environment, in capitals, as in `EXAMPLE_API_KEY`, and not the key itself",
        )
    }
}
