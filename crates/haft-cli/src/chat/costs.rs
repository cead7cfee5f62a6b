use crate::paint::{NAME, QUIET};
use haft::agent::RunState;
use haft::core::BudgetKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// What a chat took, and what is left of what its last message may take.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Costs {
    /// Turns of the model.
    turns: u32,
    /// Calls of tools.
    calls: u64,
    /// Tokens that the model read, those of the cache included.
    input_tokens: u64,
    /// Of these, tokens that came from the provider's cache.
    cached_tokens: u64,
    /// Tokens that the model wrote.
    output_tokens: u64,
    /// Tokens of the runs below it.
    tokens_below: u64,
    /// Money, in the currency of the price; `null` where there is no price.
    cost: Option<f64>,
    /// Time at work, in milliseconds.
    wall_ms: u64,
    /// What is left for the last message, for each kind that is limited; the next one may take as much as the first.
    left: Left,
}

/// What is left of a budget.
#[derive(Debug, Serialize, JsonSchema)]
struct Left {
    /// Turns of the model.
    turns: Option<u64>,
    /// Calls of tools.
    calls: Option<u64>,
    /// Tokens.
    tokens: Option<u64>,
    /// Time, in milliseconds.
    wall_ms: Option<u64>,
    /// Money.
    cost: Option<f64>,
}

impl Costs {
    /// Counts what a run took; whether it is known what that costs says whoever has the price.
    pub(super) fn of(state: &RunState, has_price: bool) -> Self {
        let (usage, spent, account) = (state.usage(), state.spent(), state.account());
        Self {
            turns: state.turns(),
            calls: spent.calls,
            input_tokens: usage.input,
            cached_tokens: usage.cache_read,
            output_tokens: usage.output,
            tokens_below: spent.tokens.saturating_sub(usage.total()),
            cost: has_price.then(|| money(spent.cost_nanos)),
            wall_ms: spent.wall_ms,
            left: Left {
                turns: account.left(BudgetKind::Turns),
                calls: account.left(BudgetKind::Calls),
                tokens: account.left(BudgetKind::Tokens),
                wall_ms: account.left(BudgetKind::WallTime),
                cost: account.left(BudgetKind::Cost).map(money),
            },
        }
    }

    pub(super) fn print(&self) {
        let left = |left: Option<String>| {
            left.map(|left| format!("{QUIET}, {left} left{QUIET:#}")).unwrap_or_default()
        };
        let number = |number: Option<u64>| left(number.map(|number| number.to_string()));
        let Self { turns, calls, input_tokens, cached_tokens, output_tokens, tokens_below, .. } = self;
        let cached =
            if *cached_tokens == 0 { String::new() } else { format!(" ({cached_tokens} from the cache)") };
        let below =
            if *tokens_below == 0 { String::new() } else { format!(", {tokens_below} by its agents") };
        let cost = self.cost.map_or_else(
            || format!("{QUIET}not known; `--price` says what a million tokens cost{QUIET:#}"),
            |cost| format!("{cost:.4}"),
        );
        let lines = [
            ("turns", format!("{turns}{}", number(self.left.turns))),
            ("calls", format!("{calls}{}", number(self.left.calls))),
            (
                "tokens",
                format!(
                    "{input_tokens} read{cached}, {output_tokens} written{below}{}",
                    number(self.left.tokens)
                ),
            ),
            ("money", format!("{cost}{}", left(self.left.cost.map(|cost| format!("{cost:.4}"))))),
            ("time", format!("{}{}", spoken(self.wall_ms), left(self.left.wall_ms.map(spoken)))),
        ];
        for (name, took) in lines {
            outln!("  {NAME}{name:6}{NAME:#}  {took}");
        }
        outln!(
            "{QUIET}What is left is that of the last message; the next one may take as much as the first.{QUIET:#}"
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody spends 2⁵³ billionths")]
fn money(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn spoken(milliseconds: u64) -> String {
    crate::timeline::spoken(Duration::from_millis(milliseconds))
}
