use haft_tools_core::{Limits, ToolLimits};
use std::time::Duration;

/// Says what an amount counts; times are kept as nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Time,
    Bytes,
    Number,
}

/// Is one key of `[limits]` or `[limits.retries]`.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) unit: Unit,
    pub(crate) least: u64,
    /// Whether more of it lets calls do less.
    pub(crate) longer_is_narrower: bool,
    pub(crate) get: fn(&Limits) -> u64,
    pub(crate) set: fn(&mut Limits, u64),
}

/// Is one key of the limits of chosen tools.
#[derive(Debug)]
pub(crate) struct ToolField {
    pub(crate) key: &'static str,
    pub(crate) unit: Unit,
    pub(crate) get: fn(&ToolLimits) -> Option<u64>,
    pub(crate) set: fn(&mut ToolLimits, Option<u64>),
    /// What holds for all tools.
    pub(crate) of_all: fn(&Limits) -> u64,
}

/// A time as it is kept.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn size(amount: u64) -> usize {
    usize::try_from(amount).unwrap_or(usize::MAX)
}

fn count(amount: u64) -> u32 {
    u32::try_from(amount).unwrap_or(u32::MAX)
}

/// No idle time is the longest there is.
fn idle(limits: &Limits) -> u64 {
    limits.idle_timeout.map_or(u64::MAX, nanos)
}

const fn field(
    key: &'static str,
    (unit, least): (Unit, u64),
    get: fn(&Limits) -> u64,
    set: fn(&mut Limits, u64),
) -> Field {
    Field { key, unit, least, longer_is_narrower: false, get, set }
}

const TIME: (Unit, u64) = (Unit::Time, 1);
const TIME_OR_NONE: (Unit, u64) = (Unit::Time, 0);
const BYTES: (Unit, u64) = (Unit::Bytes, 1);

/// Keys of `[limits]`, as they are called in [`Limits`].
pub(super) static FIELDS: [Field; 14] = [
    field("timeout", TIME, |l| nanos(l.timeout), |l, amount| l.timeout = Duration::from_nanos(amount)),
    field(
        "timeout_ceiling",
        TIME,
        |l| nanos(l.timeout_ceiling),
        |l, amount| l.timeout_ceiling = Duration::from_nanos(amount),
    ),
    field("idle_timeout", TIME, idle, |l, amount| l.idle_timeout = Some(Duration::from_nanos(amount))),
    field("grace", TIME_OR_NONE, |l| nanos(l.grace), |l, amount| l.grace = Duration::from_nanos(amount)),
    field("output_bytes", BYTES, |l| l.output_bytes as u64, |l, amount| l.output_bytes = size(amount)),
    field(
        "bounded_output_bytes",
        BYTES,
        |l| l.bounded_output_bytes as u64,
        |l, amount| l.bounded_output_bytes = size(amount),
    ),
    field(
        "output_lines",
        (Unit::Number, 1),
        |l| l.output_lines as u64,
        |l, amount| l.output_lines = size(amount),
    ),
    field("line_bytes", BYTES, |l| l.line_bytes as u64, |l, amount| l.line_bytes = size(amount)),
    field(
        "media_bytes",
        (Unit::Bytes, 0),
        |l| l.media_bytes as u64,
        |l, amount| l.media_bytes = size(amount),
    ),
    field("data_bytes", (Unit::Bytes, 0), |l| l.data_bytes as u64, |l, amount| l.data_bytes = size(amount)),
    field("nesting", (Unit::Number, 0), |l| l.nesting.into(), |l, amount| l.nesting = count(amount)),
    field("input_bytes", BYTES, |l| l.input_bytes as u64, |l, amount| l.input_bytes = size(amount)),
    field(
        "approval_lifetime",
        TIME,
        |l| l.approval_lifetime.map_or(u64::MAX, nanos),
        |l, amount| l.approval_lifetime = Some(Duration::from_nanos(amount)),
    ),
    Field {
        longer_is_narrower: true,
        ..field(
            "update_interval",
            TIME_OR_NONE,
            |l| nanos(l.update_interval),
            |l, amount| l.update_interval = Duration::from_nanos(amount),
        )
    },
];

/// Keys of `[limits.retries]`, as they are called in [`Retries`](haft_tools_core::Retries).
pub(super) static RETRY_FIELDS: [Field; 3] = [
    field("most", (Unit::Number, 0), |l| l.retries.most.into(), |l, amount| l.retries.most = count(amount)),
    Field {
        longer_is_narrower: true,
        ..field(
            "delay",
            TIME_OR_NONE,
            |l| nanos(l.retries.delay),
            |l, amount| l.retries.delay = Duration::from_nanos(amount),
        )
    },
    field(
        "longest_delay",
        TIME_OR_NONE,
        |l| nanos(l.retries.longest_delay),
        |l, amount| l.retries.longest_delay = Duration::from_nanos(amount),
    ),
];

/// Keys of the limits of chosen tools, as they are called in [`ToolLimits`].
pub(crate) static TOOL_FIELDS: [ToolField; 4] = [
    ToolField {
        key: "timeout",
        unit: Unit::Time,
        get: |l| l.timeout.map(nanos),
        set: |l, amount| l.timeout = amount.map(Duration::from_nanos),
        of_all: |l| nanos(l.timeout),
    },
    ToolField {
        key: "idle_timeout",
        unit: Unit::Time,
        get: |l| l.idle_timeout.map(nanos),
        set: |l, amount| l.idle_timeout = amount.map(Duration::from_nanos),
        of_all: idle,
    },
    ToolField {
        key: "output_bytes",
        unit: Unit::Bytes,
        get: |l| l.output_bytes.map(|bytes| bytes as u64),
        set: |l, amount| l.output_bytes = amount.map(size),
        of_all: |l| l.output_bytes as u64,
    },
    ToolField {
        key: "output_lines",
        unit: Unit::Number,
        get: |l| l.output_lines.map(|lines| lines as u64),
        set: |l, amount| l.output_lines = amount.map(size),
        of_all: |l| l.output_lines as u64,
    },
];
