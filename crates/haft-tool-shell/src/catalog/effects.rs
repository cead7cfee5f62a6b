/// One word of a simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its value where it is literal, its source otherwise.
    pub(crate) text: String,
    /// Whether nothing in it expands.
    pub(crate) is_literal: bool,
}

/// What one simple command does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Whether everything the command does is said here; otherwise it is treated as unknown.
    pub(crate) is_complete: bool,
    pub(crate) reads: Vec<Target>,
    pub(crate) writes: Vec<Target>,
    pub(crate) connects: Vec<Host>,
    /// Commands and scripts it runs.
    pub(crate) runs: Vec<Nested>,
    /// Why it cannot be told what it does, if so.
    pub(crate) opaque: Option<String>,
    /// Whether it runs what it reads from its standard input.
    pub(crate) reads_program: bool,
    /// Places of words which make it execute, write or connect although the command otherwise does not.
    pub(crate) marked: Vec<usize>,
}

/// Something in the file system. A path that is not absolute is below the directory in which the command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    File(Word),
    /// A path and all below it.
    Tree(Word),
    /// A file, or a directory of which only is told what it holds: what its files say is not read.
    Listing(Word),
}

/// Where a command connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// A name or an address.
    pub(crate) name: Word,
    /// `None` where the command does not say it and its protocol does not either.
    pub(crate) port: Option<u16>,
}

/// What a command runs besides itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nested {
    /// The words of one simple command.
    Command(Vec<Word>),
    /// A script for a shell.
    Script(Word),
}

impl Word {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_literal: true }
    }

    pub(crate) fn source(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_literal: false }
    }

    /// Whether it could be taken as an option or as the name of a subcommand when it is expanded.
    pub(super) fn could_be_option(&self) -> bool {
        if self.is_literal {
            return self.text.starts_with('-');
        }
        let inner = match self.double_quoted() {
            Some(inner) => inner,
            None if self.text.contains(['$', '`', '"', '\'', '\\', '<', '>']) => return true,
            None => self.text.as_str(),
        };
        !inner.starts_with(|first: char| first.is_alphanumeric() || matches!(first, '.' | '/' | '_'))
            && inner != "~"
            && !inner.starts_with("~/")
    }

    /// Whether it can become more words than one, or none.
    pub(super) fn could_be_several(&self) -> bool {
        !self.is_literal && self.double_quoted().is_none() && !self.is_home()
    }

    /// `~` or a path below it, in which nothing else expands.
    fn is_home(&self) -> bool {
        let rest = |rest: &str| {
            rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+'))
        };
        self.text == "~" || self.text.strip_prefix("~/").is_some_and(rest)
    }

    /// What stands between double quotes, where these are around all of it and it cannot become several words.
    fn double_quoted(&self) -> Option<&str> {
        let inner = self.text.strip_prefix('"')?.strip_suffix('"')?;
        (!inner.contains(['"', '\\', '@', '`']) && !inner.contains("$(")).then_some(inner)
    }

    /// The word as it reads in the directory `base`.
    pub(super) fn below(&self, base: Option<&Self>) -> Self {
        match base {
            Some(base) if self.is_literal && self.text == "." => base.clone(),
            Some(base) if !self.text.starts_with(['/', '~']) => {
                let text = format!("{}/{}", base.text.trim_end_matches('/'), self.text);
                Self { text, is_literal: self.is_literal && base.is_literal }
            }
            _ => self.clone(),
        }
    }

    /// What comes after the first `count` bytes of a literal word.
    pub(super) fn after(&self, count: usize) -> Self {
        Self { text: self.text.get(count..).unwrap_or_default().to_owned(), is_literal: self.is_literal }
    }
}

impl Effects {
    /// Nothing at all, told completely.
    pub(super) fn none() -> Self {
        Self { is_complete: true, ..Self::default() }
    }

    pub(super) fn is_opaque(&mut self, reason: String) {
        self.is_complete = false;
        self.opaque.get_or_insert(reason);
    }
}
