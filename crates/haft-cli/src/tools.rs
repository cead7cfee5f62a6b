use crate::arguments::ToolsOptions;
use crate::exit::Exit;
use crate::paint::{BAD, NAME, QUIET};
use crate::policy_setup::{Files, PolicySetup};
use crate::setup;
use crate::timeline::visible;
use anyhow::Result;
use haft::{Accesses, Decision, ToolSpec};

/// Lists the tools.
pub(crate) fn tools(options: &ToolsOptions) -> Result<Exit> {
    let workdir = setup::workdir(None)?;
    let registry = setup::registry(&workdir)?;
    let setup = PolicySetup::new(&workdir, None, &registry);
    let policy = setup.load(&options.policy, Files::InForce)?.loaded.policy;
    if options.json {
        let specs: Vec<&ToolSpec> = registry.iter().collect();
        anstream::println!("{}", serde_json::to_string_pretty(&specs)?);
        return Ok(Exit::Done);
    }
    let width = registry.names().map(str::len).max().unwrap_or_default();
    for spec in registry.iter() {
        let name = spec.name().as_str();
        anstream::println!("{NAME}{name:width$}{NAME:#}  {}", first_sentence(spec.description()));
        anstream::println!("{:width$}  {QUIET}{}{QUIET:#}", "", properties(spec));
        let nothing = Accesses::none();
        let verdict = policy.decide(spec, &nothing);
        if verdict.decision() == Decision::Deny {
            let reason = verdict.explain(policy.rule_language()).reason;
            anstream::println!("{:width$}  {BAD}denied{BAD:#} {}", "", visible(&reason));
        }
    }
    anstream::println!(
        "\nCall one with `haft call NAME JSON`; `haft tools --json` prints everything a model is told."
    );
    Ok(Exit::Done)
}

fn first_sentence(description: &str) -> &str {
    let end = description.find(". ").map_or(description.len(), |end| end + 1);
    description[..end].lines().next().unwrap_or_default()
}

/// Lists the arguments, those that may be left out in brackets.
fn properties(spec: &ToolSpec) -> String {
    let schema = spec.input_schema().as_value();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let optional = properties.keys().filter(|name| !required.contains(&name.as_str()));
    let names: Vec<String> = required
        .iter()
        .map(|name| (*name).to_owned())
        .chain(optional.map(|name| format!("[{name}]")))
        .collect();
    names.join(" ")
}
