use haft_tools_core::{Limits, ToolLimits, Widths};
use std::time::Duration;

/// Says what an amount counts; times are kept as nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Time,
    Bytes,
    Number,
}

/// Is one key of `[limits]`, `[limits.retries]` or `[limits.widths]`.
#[derive(Debug)]
pub(crate) struct Field<T: 'static = Limits> {
    pub(crate) key: &'static str,
    /// What it is, for people.
    pub(crate) says: &'static str,
    pub(crate) unit: Unit,
    pub(crate) least: u64,
    /// Whether more of it lets calls do less.
    pub(crate) longer_is_narrower: bool,
    pub(crate) get: fn(&T) -> u64,
    pub(crate) set: fn(&mut T, u64),
}

/// Is one key of the limits of chosen tools.
#[derive(Debug)]
pub(crate) struct ToolField {
    pub(crate) key: &'static str,
    /// What it is, for people.
    pub(crate) says: &'static str,
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

const fn field<T>(
    (key, says): (&'static str, &'static str),
    (unit, least): (Unit, u64),
    get: fn(&T) -> u64,
    set: fn(&mut T, u64),
) -> Field<T> {
    Field { key, says, unit, least, longer_is_narrower: false, get, set }
}

const TIME: (Unit, u64) = (Unit::Time, 1);
const TIME_OR_NONE: (Unit, u64) = (Unit::Time, 0);
const BYTES: (Unit, u64) = (Unit::Bytes, 1);
/// Without room in its class no call would ever run.
const WIDTH: (Unit, u64) = (Unit::Number, 1);

/// Keys of `[limits]`, as they are called in [`Limits`].
pub(crate) static FIELDS: [Field; 14] = [
    field(
        ("timeout", "How long a call may run whose tool asks for no time of its own; 2 minutes by default."),
        TIME,
        |l| nanos(l.timeout),
        |l, amount| l.timeout = Duration::from_nanos(amount),
    ),
    field(
        ("timeout_ceiling", "How long a call may run whatever its tool asks for; one hour by default."),
        TIME,
        |l| nanos(l.timeout_ceiling),
        |l, amount| l.timeout_ceiling = Duration::from_nanos(amount),
    ),
    field(
        (
            "idle_timeout",
            "How long a call may run without telling that it gets on; without limit by default.",
        ),
        TIME,
        idle,
        |l, amount| l.idle_timeout = Some(Duration::from_nanos(amount)),
    ),
    field(
        (
            "grace",
            "How long a call that is told to stop may take for that before it is abandoned; 2 s by default.",
        ),
        TIME_OR_NONE,
        |l| nanos(l.grace),
        |l, amount| l.grace = Duration::from_nanos(amount),
    ),
    field(
        (
            "output_bytes",
            "How many bytes a reply may have whose tool leaves it to be bounded; 32 KiB by default.",
        ),
        BYTES,
        |l| l.output_bytes as u64,
        |l, amount| l.output_bytes = size(amount),
    ),
    field(
        (
            "bounded_output_bytes",
            "How many bytes a reply may have whose tool bounds it itself; 66 KiB by default.",
        ),
        BYTES,
        |l| l.bounded_output_bytes as u64,
        |l, amount| l.bounded_output_bytes = size(amount),
    ),
    field(
        ("output_lines", "How many lines a reply may have; 2,000 by default."),
        (Unit::Number, 1),
        |l| l.output_lines as u64,
        |l, amount| l.output_lines = size(amount),
    ),
    field(
        ("line_bytes", "How many bytes a line of a reply may have; 2,000 by default."),
        BYTES,
        |l| l.line_bytes as u64,
        |l, amount| l.line_bytes = size(amount),
    ),
    field(
        (
            "media_bytes",
            "How many bytes of images and other binary documents a reply may have; 5 MiB by default.",
        ),
        (Unit::Bytes, 0),
        |l| l.media_bytes as u64,
        |l, amount| l.media_bytes = size(amount),
    ),
    field(
        ("data_bytes", "How many bytes a result as data may have; 1 MiB by default."),
        (Unit::Bytes, 0),
        |l| l.data_bytes as u64,
        |l, amount| l.data_bytes = size(amount),
    ),
    field(
        ("nesting", "How deep calls made by tools may nest; 8 by default."),
        (Unit::Number, 0),
        |l| l.nesting.into(),
        |l, amount| l.nesting = count(amount),
    ),
    field(
        ("input_bytes", "How many bytes the arguments of a call may have; 16 MiB by default."),
        BYTES,
        |l| l.input_bytes as u64,
        |l, amount| l.input_bytes = size(amount),
    ),
    field(
        (
            "approval_lifetime",
            "How long an approval of a call that was left to wait counts; 7 days by default.",
        ),
        TIME,
        |l| l.approval_lifetime.map_or(u64::MAX, nanos),
        |l, amount| l.approval_lifetime = Some(Duration::from_nanos(amount)),
    ),
    Field {
        longer_is_narrower: true,
        ..field(
            (
                "update_interval",
                "How long after an update of a call its next one is not shown; 50 ms by default.",
            ),
            TIME_OR_NONE,
            |l| nanos(l.update_interval),
            |l, amount| l.update_interval = Duration::from_nanos(amount),
        )
    },
];

/// Keys of `[limits.retries]`, as they are called in [`ToolRetries`](haft_tools_core::ToolRetries).
pub(crate) static RETRY_FIELDS: [Field; 3] = [
    field(
        ("most", "How often a call is tried again; 2 by default."),
        (Unit::Number, 0),
        |l| l.retries.most.into(),
        |l, amount| l.retries.most = count(amount),
    ),
    Field {
        longer_is_narrower: true,
        ..field(
            (
                "delay",
                "How long is waited before the first time, and twice as long before each further one; 200 ms by default.",
            ),
            TIME_OR_NONE,
            |l| nanos(l.retries.delay),
            |l, amount| l.retries.delay = Duration::from_nanos(amount),
        )
    },
    field(
        ("longest_delay", "How long is waited at most; 5 s by default."),
        TIME_OR_NONE,
        |l| nanos(l.retries.longest_delay),
        |l, amount| l.retries.longest_delay = Duration::from_nanos(amount),
    ),
];

/// Keys of `[limits.widths]`, as they are called in [`Widths`].
pub(crate) static WIDTH_FIELDS: [Field<Widths>; 5] = [
    field(
        ("read", "How many calls that look at things, or touch nothing, run at once; 32 by default."),
        WIDTH,
        |w| w.read as u64,
        |w, amount| w.read = size(amount),
    ),
    field(
        ("connect", "How many calls that connect to hosts or ask remote parties run at once; 16 by default."),
        WIDTH,
        |w| w.connect as u64,
        |w, amount| w.connect = size(amount),
    ),
    field(
        ("write", "How many calls that change things run at once; 8 by default."),
        WIDTH,
        |w| w.write as u64,
        |w, amount| w.write = size(amount),
    ),
    field(
        ("execute", "How many calls that run commands run at once; 4 by default."),
        WIDTH,
        |w| w.execute as u64,
        |w, amount| w.execute = size(amount),
    ),
    field(
        ("opaque", "How many calls of which cannot be told what they do run at once; 1 by default."),
        WIDTH,
        |w| w.opaque as u64,
        |w, amount| w.opaque = size(amount),
    ),
];

/// Keys of the limits of chosen tools, as they are called in [`ToolLimits`].
pub(crate) static TOOL_FIELDS: [ToolField; 4] = [
    ToolField {
        key: "timeout",
        says: "How long a call of them may run, whatever its tool asks for.",
        unit: Unit::Time,
        get: |l| l.timeout.map(nanos),
        set: |l, amount| l.timeout = amount.map(Duration::from_nanos),
        of_all: |l| nanos(l.timeout),
    },
    ToolField {
        key: "idle_timeout",
        says: "How long a call of them may run without telling that it gets on.",
        unit: Unit::Time,
        get: |l| l.idle_timeout.map(nanos),
        set: |l, amount| l.idle_timeout = amount.map(Duration::from_nanos),
        of_all: idle,
    },
    ToolField {
        key: "output_bytes",
        says: "How many bytes a reply of theirs may have.",
        unit: Unit::Bytes,
        get: |l| l.output_bytes.map(|bytes| bytes as u64),
        set: |l, amount| l.output_bytes = amount.map(size),
        of_all: |l| l.output_bytes as u64,
    },
    ToolField {
        key: "output_lines",
        says: "How many lines a reply of theirs may have.",
        unit: Unit::Number,
        get: |l| l.output_lines.map(|lines| lines as u64),
        set: |l, amount| l.output_lines = amount.map(size),
        of_all: |l| l.output_lines as u64,
    },
];
