use haft_core::OutputId;
use std::fmt;

/// Says where what was cut can be found.
pub(super) enum Whereabouts<'a> {
    /// In the store, from which the model can read it with the tool of this name.
    Readable { output: &'a OutputId, tool: &'a str },
    /// In the store, where only the host finds it.
    Stored(&'a OutputId),
    /// There is no store.
    Nowhere,
    /// The store did not take it.
    Lost,
}

/// Says that something was cut out of the middle, and how much.
pub(super) struct GapNote<'a> {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// The line of the whole in which the gap begins, 1-based.
    pub(super) offset: u64,
    pub(super) whereabouts: &'a Whereabouts<'a>,
}

impl fmt::Display for GapNote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, lines, offset, whereabouts } = self;
        let noun = if *lines == 1 { "line" } else { "lines" };
        write!(f, "[… {bytes} bytes, {lines} {noun} cut here")?;
        match whereabouts {
            Whereabouts::Readable { output, tool } => {
                write!(f, ": `{tool}` gives them, with output \"{output}\" and offset {offset} …]")
            }
            Whereabouts::Stored(output) => {
                write!(f, " and kept as the output {output}: ask for less at once to see them …]")
            }
            Whereabouts::Nowhere => f.write_str(": ask for less at once to see them …]"),
            Whereabouts::Lost => {
                f.write_str(", and they could not be kept: ask for less at once to see them …]")
            }
        }
    }
}

/// Says that lines were cut within, and how to see them whole.
pub(super) struct LineNote<'a> {
    pub(super) line_bytes: usize,
    pub(super) whereabouts: &'a Whereabouts<'a>,
}

impl fmt::Display for LineNote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[lines over {} bytes are cut within", self.line_bytes)?;
        match self.whereabouts {
            Whereabouts::Readable { output, tool } => {
                write!(f, ": `{tool}` gives them, with output \"{output}\"]")
            }
            Whereabouts::Stored(output) => {
                write!(f, " and kept as the output {output}: ask for less at once to see them]")
            }
            Whereabouts::Nowhere => f.write_str(": ask for less at once to see them]"),
            Whereabouts::Lost => {
                f.write_str(", and they could not be kept: ask for less at once to see them]")
            }
        }
    }
}
