use super::Providers;
use super::reading::{at_least, parsed, read_by};
use crate::agent::Header;
use crate::agent::arguments::{AgentOptions, duration, price};
use crate::agent::model_settings::{Lack, ModelId, Wire};
use crate::exit::UsageError;
use crate::user_directories::UserDirectories;
use anyhow::Result;
use haft::agent::Price;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `haft agent` is told by its flags, under their names.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgentTable {
    /// The model: its provider and its name, as in `anthropic/claude-sonnet-4-5`, or the provider alone where that names one.
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    model: Option<ModelId>,
    /// The service that is asked, in the place of the provider's own: `https`, or `http` on this machine.
    base_url: Option<String>,
    /// Headers that are sent with every request, each as `NAME: VALUE`; `$NAME` at its end stands for a variable.
    #[serde(deserialize_with = "headers")]
    header: Option<Vec<String>>,
    /// By which API of OpenAI's an `openai` model is asked.
    wire: Option<Wire>,
    /// How much the model thinks, in the provider's word for it.
    effort: Option<String>,
    /// What the model cannot do.
    without: Option<Vec<Lack>>,
    /// How many tokens a request and its answer may hold.
    #[serde(deserialize_with = "at_least::<1000, _>")]
    #[schemars(range(min = 1000))]
    context_window: Option<u64>,
    /// A file of what the model is told ahead of the prompt.
    system: Option<PathBuf>,
    /// A directory of Markdown files that describe the agents which can be delegated to.
    agents: Option<PathBuf>,
    /// Turns of the model; 100 by default.
    #[serde(deserialize_with = "at_least::<1, _>")]
    #[schemars(range(min = 1))]
    max_turns: Option<u64>,
    /// Calls of tools.
    #[serde(deserialize_with = "at_least::<1, _>")]
    #[schemars(range(min = 1))]
    max_calls: Option<u64>,
    /// Tokens that the model reads and writes.
    #[serde(deserialize_with = "at_least::<1, _>")]
    #[schemars(range(min = 1))]
    max_tokens: Option<u64>,
    /// Time at work, as in `90s`, `10m` or `2h`.
    #[serde(deserialize_with = "time")]
    #[schemars(with = "String", regex(pattern = r"(ms|s|m|h)$"))]
    max_time: Option<Duration>,
    /// Money, in the currency of `price`.
    #[serde(deserialize_with = "money")]
    #[schemars(range(min = 0))]
    max_cost: Option<f64>,
    /// What a million tokens cost, as in `in=3,out=15`.
    #[serde(deserialize_with = "prices")]
    #[schemars(with = "String", regex(pattern = r"="))]
    price: Option<Price>,
}

impl AgentTable {
    /// The model that is named, and where it is asked if that is said beside it.
    pub(crate) fn model(&self) -> Option<(&ModelId, Option<&str>)> {
        self.model.as_ref().map(|model| (model, self.base_url.as_deref()))
    }

    /// The headers that are sent with every request, as they are written.
    pub(super) fn headers(&self) -> impl Iterator<Item = &String> {
        self.header.iter().flatten()
    }

    /// Has paths begin where they do in a file of this folder.
    pub(super) fn below(mut self, folder: &Path) -> Self {
        for path in [&mut self.system, &mut self.agents].into_iter().flatten() {
            *path = UserDirectories::found(folder, path);
        }
        self
    }

    /// Says what another table says as far as this one does not.
    ///
    /// Where a model is asked and how belongs to the model, and what is sent belongs to the place that it is sent to: a table
    /// that names another model, or another place, has none of it from the other table.
    pub(super) fn over(mut self, other: Self) -> Self {
        if self.model.is_none() {
            self.model = other.model;
            if self.base_url.is_none() {
                self.base_url = other.base_url;
                self.header = self.header.or(other.header);
            }
            self.wire = self.wire.or(other.wire);
            self.effort = self.effort.or(other.effort);
            self.without = self.without.or(other.without);
            self.context_window = self.context_window.or(other.context_window);
            self.price = self.price.or(other.price);
        }
        self.system = self.system.or(other.system);
        self.agents = self.agents.or(other.agents);
        self.max_turns = self.max_turns.or(other.max_turns);
        self.max_calls = self.max_calls.or(other.max_calls);
        self.max_tokens = self.max_tokens.or(other.max_tokens);
        self.max_time = self.max_time.or(other.max_time);
        self.max_cost = self.max_cost.or(other.max_cost);
        self
    }

    /// Says what the flags do not, as tables do.
    ///
    /// # Errors
    ///
    /// When neither names a model, its provider is not known, or a budget of money has no price to go by.
    pub(crate) fn fill(self, options: &mut AgentOptions, providers: &Providers) -> Result<()> {
        let (model, budget) = (&mut options.model, &mut options.budget);
        if model.model.is_none() {
            model.model = self.model;
            if model.base_url.is_none() {
                model.base_url = self.base_url;
                if model.header.is_empty() {
                    model.header = self.header.unwrap_or_default();
                }
            }
            model.wire = model.wire.or(self.wire);
            model.effort = model.effort.take().or(self.effort);
            model.context_window = model.context_window.or(self.context_window);
            if model.without.is_empty() {
                model.without = self.without.unwrap_or_default();
            }
            budget.price = budget.price.or(self.price);
        }
        if model.model.is_none() {
            let message = "no model is named; give `--model`, as in `--model anthropic/claude-sonnet-4-5`, or write \
                           `model` in `[agent]` of your `haft.toml`";
            return Err(UsageError(message.to_owned()).into());
        }
        providers.resolve(model)?;
        options.system = options.system.take().or(self.system);
        options.agents = options.agents.take().or(self.agents);
        budget.max_turns = budget.max_turns.or(self.max_turns);
        budget.max_calls = budget.max_calls.or(self.max_calls);
        budget.max_tokens = budget.max_tokens.or(self.max_tokens);
        budget.max_time = budget.max_time.or(self.max_time);
        budget.max_cost = budget.max_cost.or(self.max_cost);
        if budget.max_cost.is_some() && budget.price.is_none() {
            let message = "a budget of money needs a price; give `--price`, as in `--price in=3,out=15`, or write `price` \
                           beside `max_cost` in `[agent]`";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(())
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    read_by(deserializer, duration)
}

/// Headers are kept as they are written, and no error shows them.
pub(super) fn headers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let headers = Vec::<String>::deserialize(deserializer)?;
    let parsed: Result<Vec<Header>> = headers.iter().map(|header| Header::parse(header)).collect();
    parsed.map(|_| Some(headers)).map_err(D::Error::custom)
}

fn prices<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Price>, D::Error> {
    read_by(deserializer, price)
}

fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    let is_amount = amount.is_finite() && amount > 0.0;
    is_amount
        .then_some(Some(amount))
        .ok_or_else(|| D::Error::custom("write an amount of more than 0, as in `0.50`"))
}
