use super::Header;
use super::model_settings::{Lack, ModelId, Wire};
use crate::changes::ChangeQuota;
use crate::config::Resolved;
use crate::other_root::OtherRoot;
use crate::policy_setup::PolicyOptions;
use anyhow::Result;
use clap::Args;
use haft::agent::{Budget, Price};
use std::path::PathBuf;
use std::time::Duration;

/// How many turns a model has if nothing else is said.
const MOST_TURNS: u64 = 100;

/// What a run that goes on was begun with, and cannot be given anew.
const BEGUN_WITH: [&str; 25] = [
    "workdir",
    "roots",
    "system",
    "agents",
    "yes",
    "wait",
    "record",
    "no_mcp",
    "no_openapi",
    "model",
    "base_url",
    "wire",
    "effort",
    "without",
    "context_window",
    "max_turns",
    "max_calls",
    "max_tokens",
    "max_time",
    "max_cost",
    "price",
    "profile",
    "policy",
    "mode",
    "sandbox",
];

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub(crate) struct AgentOptions {
    /// What is to be done; `-` for standard input, alone or behind that. Without it, a chat: a message is a line
    #[arg(value_name = "PROMPT|-", num_args = 1..=2)]
    pub(crate) prompt: Vec<String>,
    /// Go on talking when that is done
    #[arg(long)]
    pub(crate) chat: bool,
    /// Talk on in a run that is kept, under the terms it was begun with; the beginning of its id will do
    #[arg(long, value_name = "RUN", conflicts_with_all = BEGUN_WITH)]
    pub(crate) resume: Option<String>,
    /// The directory the tools work in; the current one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Another directory the tools work in, to be read only with `:ro`; its files have absolute paths
    #[arg(long = "root", value_name = "DIR[:ro]")]
    pub(crate) roots: Vec<OtherRoot>,
    /// Tell the model what is in this file ahead of the prompt, in the place of what it is told by default
    #[arg(long, value_name = "FILE")]
    pub(crate) system: Option<PathBuf>,
    /// Let it delegate to the agents that the Markdown files of this directory describe
    #[arg(long, value_name = "DIR")]
    pub(crate) agents: Option<PathBuf>,
    /// Approve without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Wait until everything is answered with `haft approvals`, and ask nobody here
    #[arg(long)]
    pub(crate) wait: bool,
    /// Write what the model says as a session that `haft run` plays
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Write over a session that is there
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
    /// Print events and a summary as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the tools of MCP servers
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Leave out the tools of OpenAPI documents
    #[arg(long)]
    pub(crate) no_openapi: bool,
    #[command(flatten)]
    pub(crate) model: ModelOptions,
    #[command(flatten)]
    pub(crate) budget: BudgetOptions,
    #[command(flatten)]
    pub(crate) quota: ChangeQuota,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelOptions {
    /// The model: its provider, `anthropic`, `openai` or one of `haft.toml`, and its name; that of `haft.toml` by default
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<ModelId>,
    /// Ask the service at this address, and send it the key; without it, the provider's own
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Send this header with every request; `$NAME` at its end stands for a variable of the environment
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Ask an `openai` model by this API; `responses` by default, and `chat` with --base-url
    #[arg(long, value_name = "chat|responses", hide_possible_values = true)]
    pub(crate) wire: Option<Wire>,
    /// How much the model thinks, in the provider's word for it: `low`, `medium`, `high` …
    #[arg(long, value_name = "LEVEL")]
    pub(crate) effort: Option<String>,
    /// What the model cannot do: `images`, `reasoning`, `parallel-calls`
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    pub(crate) without: Vec<Lack>,
    /// How many tokens a request and its answer may hold; before that is reached, old outputs are told by their handles
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1000..))]
    pub(crate) context_window: Option<u64>,
    /// What `haft.toml` says of the model's provider.
    #[arg(skip)]
    pub(crate) provider: Resolved,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Budget")]
pub(crate) struct BudgetOptions {
    /// Turns of the model; 100 by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_turns: Option<u64>,
    /// Calls of tools
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_calls: Option<u64>,
    /// Tokens that the model reads and writes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// Time at work, as in `90s`, `10m` or `2h`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_time: Option<Duration>,
    /// Money, in the currency of --price
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,
    /// What a million tokens cost, as in `in=3,out=15,cache_read=0.3,cache_write=3.75`; the last two are as `in` by default
    #[arg(long, value_name = "PRICES", value_parser = price)]
    pub(crate) price: Option<Price>,
}

impl ModelOptions {
    /// Reads the headers, whose values no error shows.
    pub(crate) fn headers(&self) -> Result<Vec<Header>> {
        self.header.iter().map(|header| Header::parse(header)).collect()
    }
}

impl BudgetOptions {
    pub(crate) fn budget(&self) -> Budget {
        let mut budget = Budget::default().turns(self.max_turns.unwrap_or(MOST_TURNS));
        (budget.calls, budget.tokens) = (self.max_calls, self.max_tokens);
        if let Some(time) = self.max_time {
            budget = budget.wall_time(time);
        }
        match self.max_cost {
            Some(cost) => budget.cost(cost),
            None => budget,
        }
    }
}

/// Reads a time such as `90s`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "write a number and its unit, as in `90s`, `10m` or `2h`";
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let found = units.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = found.ok_or(FORM)?;
    let number = number.trim().parse::<f64>().map_err(|_| FORM)?;
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| FORM)?;
    if time.as_millis() == 0 {
        Err("a time of 0 leaves nothing to be done; write a longer one, as in `10m`".to_owned())
    } else {
        Ok(time)
    }
}

/// Reads an amount of money that is more than nothing.
fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "write an amount of more than 0, as in `0.50`".to_owned())
}

/// Reads prices such as `in=3,out=15`.
pub(crate) fn price(text: &str) -> Result<Price, String> {
    let form = |what: &str| {
        format!("{what}; write `in=3,out=15`, with `cache_read=` and `cache_write=` if they differ")
    };
    let [mut input, mut output, mut cache_read, mut cache_write] = [None; 4];
    for part in text.split(',') {
        let (name, amount) = part.split_once('=').ok_or_else(|| form("a price has a name"))?;
        let amount = amount.trim().parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0);
        let amount = amount.ok_or_else(|| form("a price is a number that is not negative"))?;
        let place = match name.trim() {
            "in" => &mut input,
            "out" => &mut output,
            "cache_read" => &mut cache_read,
            "cache_write" => &mut cache_write,
            _ => return Err(form("there is no such price")),
        };
        if place.replace(amount).is_some() {
            return Err(form("a price stands twice"));
        }
    }
    let (Some(input), Some(output)) = (input, output) else { return Err(form("`in` and `out` are needed")) };
    let mut price = Price::new(input, output);
    (price.cache_read, price.cache_write) = (cache_read, cache_write);
    Ok(price)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["", "90", "s", "-1s", "NaNs", "infh", "1e300h", "0s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn prices_are_named() {
        assert_eq!(price("in=3,out=15"), Ok(Price::new(3.0, 15.0)));
        let whole = price("out=15, in=3, cache_write=3.75, cache_read=0.3");
        assert_eq!(whole.map(|price| price.cache_read), Ok(Some(0.3)));
        for wrong in ["", "3,15", "in=3", "in=3,out=-1", "in=3,out=inf", "in=3,in=3,out=1", "in=3,out=1,x=1"]
        {
            assert!(price(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn amounts_are_more_than_nothing() {
        assert_eq!(amount("0.50"), Ok(0.5));
        for wrong in ["0", "-1", "NaN", "inf", "1$"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
