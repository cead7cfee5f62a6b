use super::effects::{Effects, Host, Nested, Target, Word};
use super::grammar::matches;
use super::scripts;

/// What a word means to the command it is given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text that is neither opened nor run.
    Text,
    /// One of several texts, in which `*` stands for anything; what is none of them is not understood.
    OneOf(Box<[Box<str>]>),
    /// A file that is read, or `-` for the standard input.
    Read,
    ReadTree,
    /// A file or a directory, of which only names, kinds, sizes and times are told.
    List,
    /// A file that is written.
    Write,
    WriteTree,
    /// A file that is written, or `-` for the standard output.
    Out,
    /// A file that is read and written.
    Edit,
    EditTree,
    /// A file that is read, in a `file://` URL, a host in another URL, or any text.
    FileUrl,
    /// `@FILE`, which is read, or any text.
    AtFile,
    /// A name or a path inside; a path that leads out is read, and of a URL it is connected to the host.
    Revision,
    /// Letters, digits and `@+._-:`.
    Name,
    /// The name of a package, alone or below a scope, and a version: `@scope/name@1`.
    Package,
    /// A host, with or without a port.
    Host,
    /// A URL, of whose host it is connected to.
    Url,
    /// `HOST:PATH`, or a path that is read.
    RemoteRead,
    /// `HOST:PATH`, or a path that is written.
    RemoteWrite,
    /// The first word of a command that takes all the following words.
    Command,
    /// The first word of a command that ends with `;`, or with `+` after `{}`, as in `find`.
    Exec,
    /// The first word of a command that ends with `;` or with the last word, as in `fd`.
    ExecAll,
    /// A script for a shell.
    Shell,
    /// Words that are joined and run by a shell.
    Eval,
    /// A program or a file of one, about which nothing is known.
    Code,
    /// The directory in which the command then works.
    Directory,
    /// A text that stands for what is read, in the words of the command it runs.
    Placeholder,
    /// `NAME=VALUE` for the environment of the command or of those after it.
    Assign,
    /// The name of a variable of the shell that is set, alone or with a value.
    Variable,
    /// `+` and a format.
    Plus,
    Sed,
    Awk,
    Sql,
    /// A program of `jq` or `yq`.
    Jq,
    /// What `curl` says at the end, as in `curl -w`.
    Format,
    /// Keys of a chooser and what they do, as in `fzf --bind`.
    Keys,
    /// A word that the entry says nothing about.
    Unknown,
}

impl Kind {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "text" => Self::Text,
            "read" => Self::Read,
            "read-tree" => Self::ReadTree,
            "list" => Self::List,
            "write" => Self::Write,
            "write-tree" => Self::WriteTree,
            "out" => Self::Out,
            "edit" => Self::Edit,
            "edit-tree" => Self::EditTree,
            "file-url" => Self::FileUrl,
            "at-file" => Self::AtFile,
            "name" => Self::Name,
            "package" => Self::Package,
            "revision" => Self::Revision,
            "host" => Self::Host,
            "url" => Self::Url,
            "remote-read" => Self::RemoteRead,
            "remote-write" => Self::RemoteWrite,
            "command" => Self::Command,
            "exec" => Self::Exec,
            "exec-all" => Self::ExecAll,
            "shell" => Self::Shell,
            "eval" => Self::Eval,
            "code" => Self::Code,
            "directory" => Self::Directory,
            "placeholder" => Self::Placeholder,
            "assign" => Self::Assign,
            "variable" => Self::Variable,
            "plus" => Self::Plus,
            "sed" => Self::Sed,
            "awk" => Self::Awk,
            "sql" => Self::Sql,
            "jq" => Self::Jq,
            "format" => Self::Format,
            "keys" => Self::Keys,
            "unknown" => Self::Unknown,
            _ => Self::OneOf(text.strip_prefix('(')?.strip_suffix(')')?.split('|').map(Box::from).collect()),
        })
    }

    /// Whether a word of the kind makes a command do something besides reading.
    pub(super) fn changes(&self) -> bool {
        self.writes() || self.connects() || self.runs()
    }

    pub(super) fn writes(&self) -> bool {
        matches!(
            self,
            Self::Write | Self::WriteTree | Self::Out | Self::Edit | Self::EditTree | Self::RemoteWrite
        )
    }

    fn connects(&self) -> bool {
        matches!(self, Self::Host | Self::Url | Self::RemoteRead | Self::RemoteWrite)
    }

    fn runs(&self) -> bool {
        matches!(self, Self::Command | Self::Exec | Self::ExecAll | Self::Shell | Self::Eval | Self::Code)
    }

    pub(super) fn is_path(&self) -> bool {
        matches!(self, Self::Read | Self::ReadTree | Self::List | Self::RemoteRead) || self.writes()
    }

    /// Whether it does not matter what the word becomes.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Text)
    }

    /// Adds what one word does, in the directory `base`.
    pub(super) fn apply(&self, word: &Word, base: Option<&Word>, effects: &mut Effects) {
        let file = || Target::File(word.below(base));
        let tree = || Target::Tree(word.below(base));
        let is_dash = word.is_literal && word.text == "-";
        match self {
            Self::Text => {}
            Self::Read | Self::ReadTree | Self::Out if is_dash => {}
            Self::Write | Self::Out if is_nowhere(word) => {}
            Self::Read | Self::ReadTree => {
                effects.reads.push(if *self == Self::Read { file() } else { tree() });
                // What takes files may take URLs as well.
                if word.text.contains("://") {
                    Self::Url.apply(word, base, effects);
                }
            }
            Self::List => effects.reads.push(Target::Listing(word.below(base))),
            Self::Write | Self::Out => effects.writes.push(file()),
            Self::WriteTree => effects.writes.push(tree()),
            Self::Edit => {
                effects.reads.push(file());
                effects.writes.push(file());
            }
            Self::EditTree => {
                effects.reads.push(tree());
                effects.writes.push(tree());
            }
            Self::Shell => effects.runs.push(Nested::Script(word.clone())),
            // A pattern or an expansion in the place of a name can only become a path or one of its own.
            Self::Revision if !word.is_literal => effects.reads.push(tree()),
            _ if !word.is_literal => effects.is_opaque(format!("it depends on what `{}` becomes", word.text)),
            Self::OneOf(texts) => effects.is_complete &= texts.iter().any(|text| matches(text, &word.text)),
            Self::FileUrl => file_url(word, base, effects),
            Self::AtFile if word.text.starts_with('@') => Self::Read.apply(&word.after(1), base, effects),
            Self::Name => effects.is_complete &= is_name(&word.text),
            Self::Package => effects.is_complete &= is_package(&word.text),
            Self::Revision if word.text.contains("://") => url(word, base, effects),
            Self::Revision if leads_out(&word.text) => effects.reads.push(tree()),
            Self::AtFile | Self::Revision => {}
            Self::Host => host(word, effects),
            Self::Url => url(word, base, effects),
            Self::RemoteRead | Self::RemoteWrite => self.remote(word, base, effects),
            Self::Code => {
                effects.is_opaque(format!("it runs a program, `{}`, that is not understood", word.text));
            }
            Self::Assign => effects.is_complete &= scripts::is_harmless_assignment(&word.text),
            Self::Variable => {
                let name = word.text.split_once('=').map_or(word.text.as_str(), |(name, _)| name);
                effects.is_complete &= scripts::is_own_variable(name);
            }
            Self::Plus => effects.is_complete &= word.text.starts_with('+'),
            Self::Sed => effects.is_complete &= scripts::sed_only_prints(&word.text),
            Self::Awk => effects.is_complete &= scripts::awk_only_prints(&word.text),
            Self::Sql => effects.is_complete &= scripts::sql_only_reads(&word.text),
            Self::Jq => {
                effects.is_complete &=
                    !["import", "include", "load", "eval"].iter().any(|name| word.text.contains(name));
            }
            Self::Format => {
                effects.is_complete &= !word.text.starts_with('@') && !word.text.contains("%output");
            }
            Self::Keys => effects.is_complete &= scripts::keys_only_move(&word.text),
            // These take more words than one, and are read where the others are at hand.
            Self::Command
            | Self::Exec
            | Self::ExecAll
            | Self::Eval
            | Self::Directory
            | Self::Placeholder
            | Self::Unknown => {
                effects.is_complete = false;
            }
        }
    }

    /// `HOST:PATH`, `rsync://…`, or a path.
    fn remote(&self, word: &Word, base: Option<&Word>, effects: &mut Effects) {
        if word.text == "-" {
            return;
        }
        if word.text.contains("://") {
            return url(word, base, effects);
        }
        match word.text.split_once(':') {
            Some((name, _)) if !name.is_empty() && !name.contains('/') => {
                host(&Word::literal(name), effects);
            }
            _ if *self == Self::RemoteRead => effects.reads.push(Target::Tree(word.below(base))),
            _ => effects.writes.push(Target::Tree(word.below(base))),
        }
    }
}

/// Whether what is written there is lost or shown.
fn is_nowhere(word: &Word) -> bool {
    word.is_literal && matches!(word.text.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

/// Whether a path can lead out of the directory it is relative to.
fn leads_out(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..")
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@+._-:".contains(&byte))
}

/// Tells whether it is no path and no address, from which a package could be fetched.
fn is_package(text: &str) -> bool {
    let name = text.strip_prefix('@').and_then(|text| text.split_once('/'));
    let (scope, name) = name.map_or((None, text), |(scope, name)| (Some(scope), name));
    scope.into_iter().chain([name]).all(|part| is_name(part) && !part.contains(':'))
}

/// Adds `[USER@]HOST[:PORT]`.
fn host(word: &Word, effects: &mut Effects) {
    let name = word.text.rsplit_once('@').map_or(word.text.as_str(), |(_, name)| name);
    let (name, port) = match name.strip_prefix('[').and_then(|name| name.split_once(']')) {
        Some((name, port)) => {
            // Other brackets are a range of names.
            effects.is_complete &= name.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
                && (port.is_empty() || port.starts_with(':'));
            (name, port.strip_prefix(':'))
        }
        None => match name.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (name, None),
        },
    };
    match port.map(str::parse) {
        _ if name.is_empty() || name.contains(['[', ']']) => effects.is_complete = false,
        Some(Err(_)) => effects.is_complete = false,
        Some(Ok(port)) => effects.connects.push(Host { name: Word::literal(name), port: Some(port) }),
        None => effects.connects.push(Host { name: Word::literal(name), port: None }),
    }
}

/// Adds the host of a URL, or the file of a `file:` one.
fn url(word: &Word, base: Option<&Word>, effects: &mut Effects) {
    let (scheme, rest) = word.text.split_once("://").unwrap_or(("", &word.text));
    if scheme.eq_ignore_ascii_case("file") {
        return file_url(word, base, effects);
    }
    let port = match scheme.to_ascii_lowercase().as_str() {
        "" | "http" | "ws" => 80,
        "https" | "wss" => 443,
        "ftp" => 21,
        "ftps" => 990,
        "ssh" | "sftp" | "scp" => 22,
        "rsync" => 873,
        "git" => 9418,
        _ => return effects.is_complete = false,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    // What these expand to in a URL would be further hosts, and of a backslash not all readers make the same.
    if authority.contains(['{', '}', '*', ',', '\\']) {
        return effects.is_complete = false;
    }
    let before = effects.connects.len();
    host(&Word::literal(authority), effects);
    for host in effects.connects.iter_mut().skip(before) {
        host.port.get_or_insert(port);
    }
}

/// Adds the file that a `file://` or `fileb://` URL names, or the host of another.
fn file_url(word: &Word, base: Option<&Word>, effects: &mut Effects) {
    let text = word.text.as_str();
    if text.starts_with("http://") || text.starts_with("https://") {
        return url(word, base, effects);
    }
    // The scheme may also stand behind a name, as in `--cli-input-json=file://…` or `Body=file://…`.
    for scheme in ["file://", "fileb://"] {
        if let Some(start) = text.find(scheme) {
            let path = Word::literal(&text[start + scheme.len()..]);
            effects.reads.push(Target::File(path.below(base)));
            return;
        }
    }
}
