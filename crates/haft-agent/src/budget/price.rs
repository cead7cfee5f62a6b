use haft_core::Usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tokens that a price is given for.
const MILLION: f64 = 1e6;

/// Says what a model's tokens cost, per million, in a currency of the host's.
///
/// ```
/// use haft_agent::Price;
/// use haft_core::Usage;
///
/// let price = Price::new(3.0, 15.0).cache_read(0.30);
/// let usage = Usage { input: 10_000, output: 1_000, cache_read: 8_000, ..Usage::default() };
/// // 2,000 read anew, 8,000 read from the cache, and 1,000 written.
/// assert_eq!(price.of(&usage), 6_000_000 + 2_400_000 + 15_000_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// A million tokens of a prompt.
    pub input: f64,
    /// A million tokens that the model writes.
    pub output: f64,
    /// A million tokens of a prompt that are read from the provider's cache; as all others by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// A million tokens of a prompt that are written to the provider's cache; as all others by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Sets what a million tokens of a prompt, and a million that the model writes, cost.
    pub fn new(input: f64, output: f64) -> Self {
        Self { input, output, cache_read: None, cache_write: None }
    }

    /// Sets what a million tokens cost that are read from the provider's cache.
    pub fn cache_read(mut self, price: f64) -> Self {
        self.cache_read = Some(price);
        self
    }

    /// Sets what a million tokens cost that are written to the provider's cache.
    pub fn cache_write(mut self, price: f64) -> Self {
        self.cache_write = Some(price);
        self
    }

    /// What a turn cost, in billionths of the currency, rounded to the nearest.
    pub fn of(&self, usage: &Usage) -> u64 {
        let Usage { input, output, cache_read, cache_write } = *usage;
        let plain = input.saturating_sub(cache_read).saturating_sub(cache_write);
        let parts = [
            (plain, self.input),
            (output, self.output),
            (cache_read, self.cache_read.unwrap_or(self.input)),
            (cache_write, self.cache_write.unwrap_or(self.input)),
        ];
        #[expect(clippy::cast_precision_loss, reason = "no turn has 2⁵³ tokens")]
        let amount = parts.iter().map(|(tokens, price)| *tokens as f64 * price.max(0.0) / MILLION).sum();
        nanos(amount)
    }
}

/// Says what the tokens of each model cost, by the model's name.
///
/// The serde form is a table of [`Price`]s by name, as in `[prices."claude-sonnet-4-5"]`.
///
/// ```
/// use haft_agent::{Price, Prices};
///
/// let prices: Prices = serde_json::from_str(r#"{"sonnet": {"input": 3.0, "output": 15.0}}"#)?;
/// assert_eq!(prices, Prices::new().with("sonnet", Price::new(3.0, 15.0)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// Makes a table without a price.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the price of a model, by the name that its capabilities give.
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Self {
        self.0.insert(model.into(), price);
        self
    }

    /// Finds the price of a model.
    pub fn get(&self, model: &str) -> Option<&Price> {
        self.0.get(model)
    }
}

/// Turns an amount into billionths; one that is negative or no number is nothing.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of what is out of range gives the nearer end, and of what is no number nothing"
)]
pub(super) fn nanos(amount: f64) -> u64 {
    (amount * 1e9).round() as u64
}
