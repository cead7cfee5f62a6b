use crate::arguments::ToolsOptions;
use crate::exit::Exit;
use crate::offered::list;
use crate::opened_workdir::OpenedWorkdir;
use crate::own_tools;
use crate::paint::{BAD, NAME, QUIET};
use crate::policy_setup::{Files, PolicySetup};
use crate::timeline::visible;
use crate::when::ago;
use anyhow::Result;
use haft::core::{Decision, Exposure, ToolSpec};
use haft::{Accesses, Policy, ToolRegistry};

/// Lists the tools.
pub(crate) async fn tools(options: &ToolsOptions) -> Result<Exit> {
    let opened = OpenedWorkdir::of(None, Vec::new())?;
    let catalog = opened.configuration.catalog()?;
    let own = own_tools::registry(&opened.workdir, &catalog)?;
    let (registry, servers, remembered) = list(&opened, own, options).await?;
    servers.stop().await;
    let setup = PolicySetup::new(&opened.configuration, &opened.workdir, None);
    let policy = setup.load(&options.policy, Files::InForce, &registry, &catalog)?.loaded.policy;
    if options.json {
        let specs = shown(&registry, &remembered.tools);
        outln!("{}", serde_json::to_string_pretty(&specs)?);
        return Ok(Exit::Done);
    }
    let specs = shown(&registry, &remembered.tools);
    let width = specs.iter().map(|spec| spec.name().as_str().len()).max().unwrap_or_default();
    for spec in specs {
        let name = spec.name().as_str();
        outln!("{NAME}{name:width$}{NAME:#}  {}", visible(first_sentence(spec.description())));
        outln!("{:width$}  {QUIET}{}{QUIET:#}", "", visible(&properties(spec)));
        if let Some(reason) = denied(&policy, spec) {
            outln!("{:width$}  {BAD}denied{BAD:#} {}", "", visible(&reason));
        }
    }
    if let Some(since) = remembered.since_ms {
        outln!(
            "\n{QUIET}Tools of MCP servers are as they were listed {}; `haft tools --refresh` asks their servers.{QUIET:#}",
            ago(since)
        );
    }
    outln!("\nCall one with `haft call NAME JSON`; `haft tools --json` prints everything a model is told.");
    Ok(Exit::Done)
}

/// Says why a tool is denied, whatever it is called with.
pub(crate) fn denied(policy: &Policy, spec: &ToolSpec) -> Option<String> {
    let nothing = Accesses::none();
    let verdict = policy.decide(spec, &nothing);
    (verdict.decision() == Decision::Deny).then(|| verdict.explain(policy.rule_language()).reason)
}

/// The tools that a model is told of, ordered by their names.
pub(crate) fn shown<'a>(tools: &'a ToolRegistry, remembered: &'a [ToolSpec]) -> Vec<&'a ToolSpec> {
    let all = tools.iter().chain(remembered);
    let mut specs: Vec<&ToolSpec> = all.filter(|spec| spec.exposure() != Exposure::Hidden).collect();
    specs.sort_by_key(|spec| spec.name());
    specs
}

pub(crate) fn first_sentence(description: &str) -> &str {
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
