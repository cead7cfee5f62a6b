use super::error::{reason, shown};
use haft_core::ToolName;
use haft_tools_core::{Selector, nearest};

/// Says which tools of haft do what a tool of the known format does.
pub(super) struct Foreign {
    pub(super) name: &'static str,
    /// What an agent has that may use it.
    pub(super) chosen: &'static [&'static str],
    /// What an agent does not have that may not: all that do the same, and not only the likest.
    pub(super) left_out: &'static [&'static str],
}

const fn foreign(
    name: &'static str,
    chosen: &'static [&'static str],
    left_out: &'static [&'static str],
) -> Foreign {
    Foreign { name, chosen, left_out }
}

/// The tools of the known format, in the order of their names.
pub(super) const FOREIGN: &[Foreign] = &[
    foreign("Agent", &["delegate"], &["delegate"]),
    foreign("AskUserQuestion", &["ask_user"], &["ask_user"]),
    foreign("Bash", &["bash"], &["bash", "run_program"]),
    foreign("BashOutput", &[], &[]),
    foreign("Edit", &["edit_file"], &["edit_file", "apply_patch"]),
    foreign("EnterPlanMode", &[], &[]),
    foreign("ExitPlanMode", &[], &["request_mode"]),
    foreign("Glob", &["glob"], &["glob"]),
    foreign("Grep", &["grep"], &["grep"]),
    foreign("KillBash", &[], &[]),
    foreign("KillShell", &[], &[]),
    foreign("LS", &["list_files"], &["list_files"]),
    foreign("LSP", &[], &[]),
    foreign("ListMcpResourcesTool", &[], &[]),
    foreign("Monitor", &[], &[]),
    foreign("MultiEdit", &["edit_file"], &["edit_file", "apply_patch"]),
    foreign("NotebookEdit", &[], &["edit_file", "apply_patch"]),
    foreign("NotebookRead", &[], &["read_file"]),
    foreign("Read", &["read_file"], &["read_file"]),
    foreign("ReadMcpResourceTool", &[], &[]),
    foreign("Skill", &[], &[]),
    foreign("SlashCommand", &[], &[]),
    foreign("Task", &["delegate"], &["delegate"]),
    foreign("TaskCreate", &["update_plan"], &["update_plan"]),
    foreign("TaskGet", &["update_plan"], &["update_plan"]),
    foreign("TaskList", &["update_plan"], &["update_plan"]),
    foreign("TaskOutput", &[], &[]),
    foreign("TaskStop", &[], &[]),
    foreign("TaskUpdate", &["update_plan"], &["update_plan"]),
    foreign("TodoRead", &["update_plan"], &["update_plan"]),
    foreign("TodoWrite", &["update_plan"], &["update_plan"]),
    foreign("ToolSearch", &["search_tools"], &["search_tools"]),
    foreign("WebFetch", &["web_fetch"], &["web_fetch"]),
    foreign("WebSearch", &[], &[]),
    foreign(
        "Write",
        &["write_file"],
        &["write_file", "apply_patch", "copy", "move", "delete", "make_directory"],
    ),
];

/// Tells whether a tool of haft is called so that not every run has.
pub(super) fn is_known(name: &str) -> bool {
    FOREIGN.iter().any(|known| known.chosen.contains(&name) || known.left_out.contains(&name))
}

/// Says what became of a term that is not a selector of haft as it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// It was taken for these terms.
    Mapped { term: String, to: Vec<String> },
    /// Nothing here does what it does.
    Nothing { term: String },
    /// It looks like a name of that format and is none that is known.
    Unknown { term: String, like: Vec<&'static str> },
}

/// Collects the terms of `tools` and `disallowedTools` into one selector.
#[derive(Debug, Default)]
pub(super) struct Terms {
    list: Vec<String>,
    /// Whether the agent begins with no tool, since the file names one that it has, or none.
    begins_with_none: bool,
    pub(super) remarks: Vec<Remark>,
    /// The names of single tools that were taken as they stand, and whether each is left out.
    pub(super) named: Vec<(String, bool)>,
}

impl Terms {
    /// Takes the terms of `tools`; `items` are the texts of its list.
    pub(super) fn choose<'t>(&mut self, items: impl IntoIterator<Item = &'t str>) -> Result<(), String> {
        let mut is_first = true;
        self.begins_with_none = true;
        for term in items.into_iter().flat_map(split) {
            let (is_negated, bare) = match term.strip_prefix('!') {
                Some(bare) => (true, bare),
                None => (false, term.as_str()),
            };
            if is_first && is_negated {
                self.begins_with_none = false;
            }
            is_first = false;
            self.take(bare, is_negated)?;
        }
        Ok(())
    }

    /// Takes the terms of `disallowedTools`.
    pub(super) fn leave_out<'t>(&mut self, items: impl IntoIterator<Item = &'t str>) -> Result<(), String> {
        items.into_iter().flat_map(split).try_for_each(|term| {
            if term.starts_with('!') {
                return Err(format!(
                    "has `{}`, which says twice that a tool is left out; write it without the `!`",
                    shown(&term)
                ));
            }
            self.take(&term, true)
        })
    }

    /// Makes the selector of what was taken.
    pub(super) fn selector(&self) -> Result<Selector, String> {
        // A selector begins with all tools if its first term leaves some out. The first term of the file may mean nothing
        // here, and then another stands first.
        let would_begin_with_all = self.list.first().is_none_or(|first| first.starts_with('!'));
        let first = match (self.begins_with_none, would_begin_with_all) {
            (true, true) => Some("!*"),
            (false, false) => Some("*"),
            _ => None,
        };
        let terms: Vec<&str> = first.into_iter().chain(self.list.iter().map(String::as_str)).collect();
        if terms.is_empty() {
            return Ok(Selector::all());
        }
        terms.join(", ").parse().map_err(|error| format!("is not read: {error}"))
    }

    fn take(&mut self, term: &str, is_negated: bool) -> Result<(), String> {
        let (name, arguments) = match term.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').or(Some(rest))),
            None => (term, None),
        };
        if arguments.is_some_and(|arguments| arguments.trim() != "*") {
            return Err(arguments_refused(term, name));
        }
        let written = if is_negated { format!("!{term}") } else { term.to_owned() };
        if let Some(terms) = of_server(name)? {
            self.map(&written, &[&terms], is_negated);
            return Ok(());
        }
        if let Some(known) = FOREIGN.iter().find(|known| known.name == name) {
            let terms = if is_negated { known.left_out } else { known.chosen };
            self.map(&written, terms, is_negated);
            return Ok(());
        }
        // A tool of the house is not written like this; in an agent's file it is most likely one of the other program's.
        if name.starts_with(|first: char| first.is_ascii_uppercase()) {
            if is_negated {
                return Err(format!(
                    "leaves out `{}`, of which it is not known what does the same here; name the tools of haft that the \
                     agent is not to have",
                    shown(name)
                ));
            }
            let like = nearest(name, FOREIGN.iter().map(|known| known.name));
            self.remarks.push(Remark::Unknown { term: shown(name), like });
        }
        let own = if is_negated { format!("!{name}") } else { name.to_owned() };
        own.parse::<Selector>().map_err(|error| format!("is not read: {}", reason(&error.to_string())))?;
        // One that is written in the other program's way was remarked on.
        if name.parse::<ToolName>().is_ok() && !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            self.named.push((name.to_owned(), is_negated));
        }
        self.list.push(own);
        Ok(())
    }

    fn map(&mut self, written: &str, to: &[&str], is_negated: bool) {
        let to: Vec<String> =
            to.iter().map(|term| if is_negated { format!("!{term}") } else { (*term).to_owned() }).collect();
        for term in &to {
            // The last term that matches a tool decides, so one that stood before holds until another kind comes.
            let same = self.list.iter().rev().take_while(|before| before.starts_with('!') == is_negated);
            if !same.into_iter().any(|before| before == term) {
                self.list.push(term.clone());
            }
        }
        let term = shown(written);
        let remark = if to.is_empty() { Remark::Nothing { term } } else { Remark::Mapped { term, to } };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

/// Divides a text at commas and blanks that do not stand between brackets.
fn split(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let is_divider = |character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (character == ',' || character.is_whitespace())
    };
    text.split(is_divider).filter(|term| !term.is_empty()).map(str::to_owned).collect()
}

/// Reads `mcp__server__tool` as the selector `@server/tool`.
fn of_server(term: &str) -> Result<Option<String>, String> {
    /// What a selector takes for kinds of origin, and not for the name of one.
    const KINDS: [&str; 5] = ["builtin", "host", "mcp", "openapi", "agent"];
    let Some(rest) = term.strip_prefix("mcp__") else { return Ok(None) };
    let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
    if (server, tool) == ("*", "*") {
        return Ok(Some("@mcp".to_owned()));
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-' | '.'))
    };
    if KINDS.contains(&server) || !is_name(server) || !is_name(&tool.replace('*', "x")) {
        return Err(format!(
            "has `{}`, which names no server of which it could be told; write the name that the tool has here, such as \
             `server__tool`",
            shown(term)
        ));
    }
    Ok(Some(if tool == "*" { format!("@{server}") } else { format!("@{server}/{tool}") }))
}

/// Says what to do about a term that allows some calls of a tool and others not.
fn arguments_refused(term: &str, name: &str) -> String {
    let instead = match name {
        "Agent" | "Task" => {
            "leave out the brackets, and let a rule of the policy say which agents it may start"
        }
        "Bash" => {
            "write `Bash`, and let rules of the policy say which commands it may run, such as `exec(git status *)`"
        }
        _ => "write the tool alone, and let rules of the policy say what it may do",
    };
    format!("has `{}`: which calls of a tool are let run is not said here; {instead}", shown(term))
}
