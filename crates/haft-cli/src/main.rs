//! The program of [`haft_cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    haft_cli::main()
}
