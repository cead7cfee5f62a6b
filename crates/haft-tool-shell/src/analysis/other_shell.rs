//! Scripts that a shell other than bash runs.

/// What other shells read otherwise than bash: words of its own, and a `&` or a `{` that ends or begins something in them.
const READ_OTHERWISE: [&str; 12] = ["[[", "((", "$'", "$\"", "&>", "|&", "<(", ">(", "+=", "]=", "}>", "}<"];

/// Tells whether a command hands scripts to bash, or reads them in bash itself; others hand them to `sh`.
pub(super) fn is_bash(command: &str) -> bool {
    matches!(base(command), "bash" | "eval" | "trap")
}

/// Tells whether the shell that a command is, or hands its scripts to, reads a script as bash does.
///
/// What `sh` is differs: it can be dash, which knows no more than the standard says. Of zsh and ksh nothing is sure.
pub(super) fn reads_alike(command: &str, script: &str) -> bool {
    // A number of several digits is a word before a redirection in some shells, and a descriptor in bash.
    let has_long_number = script
        .as_bytes()
        .windows(3)
        .any(|bytes| bytes[..2].iter().all(u8::is_ascii_digit) && matches!(bytes[2], b'<' | b'>'));
    !matches!(base(command), "zsh" | "ksh")
        && !has_long_number
        && !READ_OTHERWISE.iter().any(|text| script.contains(text))
}

/// Tells whether a shell reads a script from its standard input as bash does.
pub(super) fn reads_script_alike(shell: &str, script: &str) -> bool {
    shell == "bash" || reads_alike(shell, script)
}

fn base(command: &str) -> &str {
    command.rsplit('/').next().unwrap_or(command)
}
