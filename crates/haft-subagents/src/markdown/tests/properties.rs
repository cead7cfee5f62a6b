use crate::AgentFile;
use haft_core::{Origin, Schema, ToolSpec};
use haft_tools_core::Selector;
use proptest::prelude::*;

/// The tools of a house: built in, of the host, and of servers.
fn house() -> Vec<ToolSpec> {
    let spec = |name: &str, origin: Origin| {
        ToolSpec::new(name.parse().unwrap(), "Does it.", Schema::empty()).with_origin(origin)
    };
    let builtin =
        ["read_file", "write_file", "edit_file", "apply_patch", "bash", "grep", "delegate", "delete"];
    let of_server = |tool: &str| {
        spec(&format!("github__{tool}"), Origin::Mcp { server: "github".into(), tool: tool.into() })
    };
    let mut tools: Vec<ToolSpec> = builtin.map(|name| spec(name, Origin::Builtin)).into();
    tools.push(spec("read_secret", Origin::Host));
    tools.push(spec("request_mode", Origin::Builtin).explicit_only());
    tools.extend(["list", "create"].map(of_server));
    tools
}

/// What a term of a file may choose at most, in words of haft; nothing for what does not exist here.
const POSITIVE: [(&str, &str); 20] = [
    ("Read", "read_file"),
    ("Write", "write_file"),
    ("Edit", "edit_file"),
    ("Bash", "bash"),
    ("Bash(*)", "bash"),
    ("Grep", "grep"),
    ("Task", "delegate"),
    ("WebSearch", "!*"),
    ("NotebookRead", "!*"),
    ("ExitPlanMode", "!*"),
    ("mcp__github__list", "@github/list"),
    ("mcp__github", "@github"),
    ("mcp__none__x", "!*"),
    ("Unheard", "!*"),
    ("*", "*"),
    ("read_*", "read_*"),
    ("@builtin", "@builtin"),
    ("@github/c*", "@github/c*"),
    ("request_mode", "request_mode"),
    ("unheard_of", "!*"),
];

/// What a term that is left out takes away at least.
const NEGATIVE: [(&str, &str); 10] = [
    ("Read", "read_file"),
    ("Write", "write_file, apply_patch, delete"),
    ("Edit", "edit_file, apply_patch"),
    ("Bash", "bash"),
    ("Task", "delegate"),
    ("mcp__github", "@github"),
    ("WebSearch", "!*"),
    ("*", "*"),
    ("read_*", "read_*"),
    ("@builtin", "@builtin"),
];

fn selector(text: &str) -> Selector {
    text.parse().unwrap()
}

/// Decides as the text says: by the last term that speaks of the tool, and from all tools only if none is chosen first.
fn says(terms: &[(bool, usize)], left_out: &[usize], tool: &ToolSpec) -> bool {
    let begins_with_all = terms.first().is_none_or(|(is_negated, _)| *is_negated);
    let all = begins_with_all && !tool.is_explicit_only();
    let chosen = terms.iter().fold(all, |chosen, (is_negated, place)| match is_negated {
        true => chosen && !selector(NEGATIVE[place % NEGATIVE.len()].1).concerns(tool),
        false => chosen || selector(POSITIVE[place % POSITIVE.len()].1).matches(tool),
    });
    chosen && !left_out.iter().any(|place| selector(NEGATIVE[place % NEGATIVE.len()].1).concerns(tool))
}

fn term((is_negated, place): &(bool, usize)) -> String {
    match is_negated {
        true => format!("!{}", NEGATIVE[place % NEGATIVE.len()].0),
        false => POSITIVE[place % POSITIVE.len()].0.to_owned(),
    }
}

proptest! {
    #[test]
    fn a_selection_is_that_of_the_text(
        terms in prop::collection::vec((prop::bool::weighted(0.3), 0..20_usize), 0..6),
        left_out in prop::collection::vec(0..10_usize, 0..3),
        as_list: bool,
    ) {
        let written: Vec<String> = terms.iter().map(term).collect();
        let without: Vec<&str> = left_out.iter().map(|place| NEGATIVE[*place].0).collect();
        let list = |key: &str, items: &[String]| match (items.is_empty(), as_list) {
            (true, _) => String::new(),
            (false, true) => format!("{key}:\n{}", items.iter().fold(String::new(), |list, item| list + "  - " + item + "\n")),
            (false, false) => format!("{key}: {}\n", items.join(", ")),
        };
        let without: Vec<String> = without.into_iter().map(str::to_owned).collect();
        let front = list("tools", &written) + &list("disallowedTools", &without);
        let text = format!("---\nname: a\ndescription: b\n{front}---\nx");
        // What cannot be read is no agent; whatever is one has the tools that the text says and no other.
        if let Ok(file) = AgentFile::parse(&text, "a.md") {
            for tool in house() {
                prop_assert_eq!(
                    file.spec.tools.matches(&tool), says(&terms, &left_out, &tool),
                    "{} by `{}` of\n{}", tool.name(), file.spec.tools, text
                );
            }
        } else {
            let is_mixed = front.contains(", !") || front.contains(", @") || front.contains(", *");
            prop_assert!(is_mixed || front.contains("disallowedTools"), "{}", text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = AgentFile::parse(&text, "a.md");
        let _ = AgentFile::parse(&format!("---\n{text}\n---\nx"), "a.md");
    }

    #[test]
    fn no_front_matter_makes_it_panic(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "name: a", "description: b", "description: a: b", "tools: !x", "tools: @a, *", "tools:", "  - *a", "- !b",
                "output: &a", "  {", "}", "[", "]", "*a", "? x", ": y", "|", "  >", "!!str", "<<: *a", "limits:",
                "  time: 1h", "%YAML 1.2", "'", "\"", "#", "\t", "...", "&", "!<x>", "-", "a: b: c", "context: last 1",
            ]),
            0..12,
        ),
    ) {
        let text = format!("---\nname: a\ndescription: b\n{}\n---\nx", lines.join("\n"));
        let _ = AgentFile::parse(&text, "a.md");
        let _ = AgentFile::parse(&format!("---\n{}\n---\nx", lines.join("\n")), "a.md");
    }
}
