mod field;

pub(crate) use field::{FIELDS, Field, RETRY_FIELDS, TOOL_FIELDS, Unit, WIDTH_FIELDS};

use crate::reader::{Reader, Value};
use crate::source_text::Placed;
use haft_tools_core::{Limits, Selector, ToolLimits, Widths};
use toml::de::{DeTable, DeValue};

/// Holds what a file says of limits; what it does not say is left to others.
///
/// ```
/// use haft_policy::PolicyFile;
/// use haft_tools_core::{Limits, RuleLanguage};
/// use std::time::Duration;
///
/// let text = "[limits]\ntimeout = \"5min\"\noutput_bytes = \"64 KiB\"\n\n[limits.tools.bash]\ntimeout = \"1h\"\n";
/// let file = PolicyFile::parse(text, "policy.toml", &RuleLanguage::new())?;
/// let limits = file.limits().over(Limits::default());
/// assert_eq!((limits.timeout, limits.output_bytes), (Duration::from_mins(5), 64 * 1024));
/// let (tools, of_bash) = file.limits().tools().next().ok_or("no tool has limits of its own")?;
/// assert_eq!((tools.to_string().as_str(), of_bash.timeout), ("bash", Some(Duration::from_hours(1))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FileLimits {
    pub(crate) settings: Vec<Placed<Setting>>,
    pub(crate) widths: Vec<Placed<Setting<Widths>>>,
    pub(crate) tools: Vec<Placed<(Selector, ToolLimits)>>,
}

/// Says what one limit is.
#[derive(Debug)]
pub(crate) struct Setting<T: 'static = Limits> {
    /// The table below `[limits]` that it stands in, with a dot, or nothing.
    pub(crate) table: &'static str,
    pub(crate) field: &'static Field<T>,
    pub(crate) amount: u64,
}

impl<T> Clone for Setting<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Setting<T> {}

impl FileLimits {
    /// Puts what the file says in the place of what there is.
    pub fn over(&self, limits: Limits) -> Limits {
        self.settings.iter().fold(limits, |limits, setting| setting.value.over(limits))
    }

    /// Puts what the file says of how many calls of each class run at once in the place of what there is.
    ///
    /// ```
    /// use haft_policy::PolicyFile;
    /// use haft_tools_core::{RuleLanguage, Widths};
    ///
    /// let file = PolicyFile::parse("[limits.widths]\nexecute = 2\n", "policy.toml", &RuleLanguage::new())?;
    /// let widths = file.limits().widths_over(Widths::default());
    /// assert_eq!((widths.execute, widths.write), (2, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn widths_over(&self, widths: Widths) -> Widths {
        self.widths.iter().fold(widths, |widths, setting| setting.value.over(widths))
    }

    /// The limits of chosen tools, in the order in which they count: the first that concerns a tool.
    pub fn tools(&self) -> impl Iterator<Item = (&Selector, &ToolLimits)> {
        self.tools.iter().map(|entry| (&entry.value.0, &entry.value.1))
    }

    /// Adds what another file says, which counts where both say something.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.settings.extend_from_slice(&other.settings);
        self.widths.extend_from_slice(&other.widths);
        self.tools.splice(0..0, other.tools.iter().cloned());
    }

    pub(crate) fn read(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Self {
        let settings_of_all = settings(reader, table, &FIELDS, "", &["retries", "tools", "widths"]);
        let mut read = Self { settings: settings_of_all, ..Self::default() };
        if let Some(table) = table.get("retries").and_then(|value| reader.table(value, "retries")) {
            read.settings.extend(settings(reader, table, &RETRY_FIELDS, "retries.", &[]));
        }
        if let Some(table) = table.get("widths").and_then(|value| reader.table(value, "widths")) {
            read.widths = settings(reader, table, &WIDTH_FIELDS, "widths.", &[]);
        }
        let mut tools: Vec<_> =
            table.get("tools").and_then(|value| reader.table(value, "tools")).into_iter().flatten().collect();
        tools.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in tools {
            let selector = match key.get_ref().parse::<Selector>() {
                Ok(selector) => Some(selector),
                Err(error) => {
                    reader.refuse(&key.span(), error.to_string());
                    None
                }
            };
            let limits = tool_limits(reader, value);
            if let (Some(selector), Some(limits)) = (selector, limits) {
                read.tools.push(reader.source.placed((selector, limits), key.span().start));
            }
        }
        read
    }
}

/// Reads the keys of one table.
fn settings<T>(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    fields: &'static [Field<T>],
    name: &'static str,
    besides: &[&str],
) -> Vec<Placed<Setting<T>>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut settings = Vec::new();
    for (key, value) in entries {
        let word = &**key.get_ref();
        if besides.contains(&word) {
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.key == word) else {
            let known: Vec<&str> =
                fields.iter().map(|field| field.key).chain(besides.iter().copied()).collect();
            let name = format!("`[limits.{name}").trim_end_matches('.').to_owned() + "]`";
            reader.unknown(key, &name, &known);
            continue;
        };
        if let Some(amount) = amount(reader, value, field.key, field.unit, field.least) {
            settings.push(reader.source.placed(Setting { table: name, field, amount }, key.span().start));
        }
    }
    settings
}

impl<T> Setting<T> {
    pub(crate) fn over(self, mut limits: T) -> T {
        (self.field.set)(&mut limits, self.amount);
        limits
    }

    /// Tells whether what it says is wider than what is in force.
    pub(crate) fn is_wider_than(self, limits: &T) -> bool {
        let in_force = (self.field.get)(limits);
        if self.field.longer_is_narrower { self.amount < in_force } else { self.amount > in_force }
    }
}

fn tool_limits(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<ToolLimits> {
    let mut limits = ToolLimits::default();
    for (key, value) in reader.table(value, "a limit of tools")? {
        let word = &**key.get_ref();
        let Some(field) = TOOL_FIELDS.iter().find(|field| field.key == word) else {
            reader.unknown(key, "`[limits.tools]`", &TOOL_FIELDS.each_ref().map(|field| field.key));
            continue;
        };
        if let Some(amount) = amount(reader, value, field.key, field.unit, 1) {
            (field.set)(&mut limits, Some(amount));
        }
    }
    Some(limits)
}

/// Reads an amount as a number of nanoseconds, bytes or things.
fn amount(reader: &mut Reader<'_>, value: &Value<'_>, key: &str, unit: Unit, least: u64) -> Option<u64> {
    let whole = || match value.get_ref() {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let read = match (value.get_ref(), unit) {
        (DeValue::String(text), Unit::Time) => crate::quantity::time(text).map(field::nanos),
        (DeValue::Float(number), Unit::Time) => {
            let seconds = number.as_str().parse().unwrap_or(f64::NAN);
            crate::quantity::seconds(seconds).map(field::nanos)
        }
        (DeValue::Integer(_), Unit::Time) => {
            let seconds = whole().and_then(|seconds| u32::try_from(seconds).ok()).map_or(f64::NAN, f64::from);
            crate::quantity::seconds(seconds).map(field::nanos)
        }
        (DeValue::String(text), Unit::Bytes) => crate::quantity::size(text),
        (DeValue::Integer(_), _) => whole().ok_or_else(|| format!("`{key}` is a whole number from {least}")),
        (_, Unit::Time) => Err(format!("`{key}` is a time: a number of seconds, or a text such as `30s`")),
        (_, Unit::Bytes) => Err(format!("`{key}` is a number of bytes, or a text such as `64 KiB`")),
        (_, Unit::Number) => Err(format!("`{key}` is a whole number from {least}")),
    };
    let largest = usize::MAX as u64;
    let fits = read.and_then(|amount| match amount {
        amount if amount < least && unit == Unit::Time => {
            Err(format!("`{key}` has to be longer than that; write a longer time"))
        }
        amount if amount < least => Err(format!("`{key}` is {least} at least")),
        amount => Ok(amount.min(largest)),
    });
    match fits {
        Ok(amount) => Some(amount),
        Err(reason) => {
            reader.refuse(&value.span(), reason);
            None
        }
    }
}
