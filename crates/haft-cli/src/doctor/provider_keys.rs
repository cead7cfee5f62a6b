use super::Finding;
use crate::agent::model_settings::{Like, ModelId, check_place};
use crate::config::{ProviderTable, Providers, Settings};
use haft::Workdir;
use std::env;

/// Looks whether the models that are named can be asked: their providers, places and keys. No key is shown.
pub(super) fn look(workdir: &Workdir) -> Vec<Finding> {
    // What is wrong with the files is told as such.
    let Ok(settings) = Settings::read(workdir) else { return Vec::new() };
    let mut findings = Vec::new();
    let providers = &settings.providers;
    if let Some(named) = settings.agent.model() {
        findings.push(model(&named, providers));
    } else {
        let set = [Like::Anthropic, Like::OpenAi].map(Like::variable).into_iter().filter(|name| is_set(name));
        let set: Vec<&str> = set.collect();
        let keys = match set.as_slice() {
            [] => "no key is set".to_owned(),
            [one] => format!("`{one}` is set"),
            several => format!("{} are set", haft::tools_core::listed(several.iter().copied(), "and")),
        };
        let text = format!("no model is named, and only `haft agent` needs one; {keys}");
        findings.push(Finding::ok("model", text));
    }
    for (name, table) in providers.iter() {
        let about = format!("provider {name}");
        if let Some(Err(error)) = table.base_url().map(check_place) {
            let next = format!("correct `base_url` in `[providers.{name}]`");
            findings.push(Finding::of_error(about, &error).next(next));
            continue;
        }
        let id = ModelId::any_of(name.as_str());
        let finding = match providers.of(&id).map(|(id, resolved, _)| resolved.key_of(&id)) {
            Err(error) => Finding::error(about, error).next("correct it in your `haft.toml`"),
            Ok(None) => Finding::ok(about, "it is asked without a key"),
            Ok(Some(key)) if is_set(&key) => Finding::ok(about, format!("its key is in `{key}`")),
            Ok(Some(key)) => Finding::warning(about, format!("there is no key for it: `{key}` is not set"))
                .next(format!("set {key} where haft is started, if its models are to be asked")),
        };
        findings.push(finding);
    }
    findings
}

/// Looks whether the model of `[agent]` can be asked.
fn model((id, place): &(&ModelId, Option<&str>), providers: &Providers) -> Finding {
    let (id, resolved, table) = match providers.of(id) {
        Ok(found) => found,
        Err(error) => {
            return Finding::error("model", error).next("correct `model` in `[agent]` of `haft.toml`");
        }
    };
    let place = place.or_else(|| table.and_then(ProviderTable::base_url));
    if let Some(Err(error)) = place.map(check_place) {
        return Finding::of_error("model", &error).next("correct `base_url` in `haft.toml`");
    }
    match resolved.key_of(&id) {
        Some(key) if is_set(&key) => Finding::ok("model", format!("`{id}`, and its key is in `{key}`")),
        Some(key) if resolved.key.is_some() || place.is_none() => {
            Finding::error("model", format!("`{id}` cannot be asked: `{key}` is not set"))
                .next(format!("set {key} to its key where haft is started"))
        }
        _ => Finding::ok("model", format!("`{id}`, asked without a key, or with that of a header")),
    }
}

fn is_set(variable: &str) -> bool {
    env::var(variable).is_ok_and(|value| !value.trim().is_empty())
}
