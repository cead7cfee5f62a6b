use super::decider::{Decided, Decider};
use super::explain::brief;
use super::lines::{Lines, MOST_BYTES};
use crate::exit::Exit;
use anyhow::{Context as _, Result};
use std::io::{self, BufReader, BufWriter, Write};

/// How much is read ahead, in bytes.
const READ_AHEAD: usize = 64 * 1024;

/// How much of what is no text is told, in bytes.
const SHOWN_BYTES: usize = 1_000;

/// Decides about each line of standard input, in order, and prints one line for each.
pub(super) fn stream(judge: &Decider<'_>, json: bool) -> Result<Exit> {
    let mut lines = Lines::new(BufReader::with_capacity(READ_AHEAD, io::stdin().lock()));
    let mut output = BufWriter::new(io::stdout().lock());
    while let Some(line) = lines.next_line().context("cannot read standard input")? {
        let shown;
        let decided = match std::str::from_utf8(line.bytes) {
            Ok(text) if line.is_whole => judge.line(text),
            read => {
                shown =
                    String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(SHOWN_BYTES)]).into_owned();
                let error = if line.is_whole && read.is_err() {
                    "the line is not UTF-8; write it so".to_owned()
                } else {
                    format!("the line has more than {MOST_BYTES} bytes; put the script into a file")
                };
                Decider::refused(&shown, error)
            }
        };
        let written = print(&mut output, &decided, json).and_then(|()| {
            // Whoever waits for an answer before asking on gets it; whoever does not is not slowed down.
            if lines.is_ready() { Ok(()) } else { output.flush() }
        });
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Done),
            written => written.context("cannot write to standard output")?,
        }
    }
    Ok(Exit::Done)
}

fn print(output: &mut impl Write, decided: &Decided<'_>, json: bool) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *output, decided)?;
        output.write_all(b"\n")
    } else {
        writeln!(output, "{}", brief(decided))
    }
}
