use crate::arguments::ToolsOptions;
use crate::exit::Exit;
use crate::mcp::offered::Wanted;
use crate::offered::{WantedTools, offer};
use crate::paint::{BAD, NAME, QUIET};
use crate::policy_setup::{Files, PolicySetup};
use crate::setup::{self, OpenedWorkdir};
use crate::timeline::visible;
use anyhow::Result;
use haft::{Accesses, Decision, Exposure, ToolRegistry, ToolSpec};

/// Lists the tools.
pub(crate) async fn tools(options: &ToolsOptions) -> Result<Exit> {
    let workdir = OpenedWorkdir::of(None, Vec::new())?.workdir;
    let wanted = WantedTools::new(Wanted::All, options.no_mcp, options.no_openapi);
    let (registry, servers) = offer(&workdir, setup::registry(&workdir)?, wanted).await?;
    servers.stop().await;
    let setup = PolicySetup::new(&workdir, None, &registry);
    let policy = setup.load(&options.policy, Files::InForce)?.loaded.policy;
    if options.json {
        let specs: Vec<&ToolSpec> = shown(&registry).collect();
        anstream::println!("{}", serde_json::to_string_pretty(&specs)?);
        return Ok(Exit::Done);
    }
    let width = shown(&registry).map(|spec| spec.name().as_str().len()).max().unwrap_or_default();
    for spec in shown(&registry) {
        let name = spec.name().as_str();
        anstream::println!("{NAME}{name:width$}{NAME:#}  {}", visible(first_sentence(spec.description())));
        anstream::println!("{:width$}  {QUIET}{}{QUIET:#}", "", visible(&properties(spec)));
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

/// The tools that a model is told of.
fn shown(tools: &ToolRegistry) -> impl Iterator<Item = &ToolSpec> {
    tools.iter().filter(|spec| spec.exposure() != Exposure::Hidden)
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
