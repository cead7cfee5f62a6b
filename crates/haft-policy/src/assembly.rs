use crate::file_tree::Merged;
use crate::policy_file::{AgentRules, PolicyFile};
use crate::rule_lists::RuleLists;
use crate::{PolicyFileError, Profile};
use haft_tools_core::{AgentPolicy, Policy, PolicyLayer, RuleLanguage, Rules};
use std::collections::BTreeSet;

/// What the mode `accept_edits` lets through of what no rule speaks of.
const EDITS: &str = "[permissions]\nallow = [\"read(**)\", \"write(**)\"]\n";

/// Is what one file and all that it includes say, with the name that people know the layer by.
pub(crate) struct Layer<'a> {
    pub(crate) name: &'static str,
    pub(crate) says: &'a Merged,
    pub(crate) is_trusted: bool,
}

/// Holds what every policy has besides the rules of its layers.
pub(crate) struct Assembly<'a> {
    language: &'a RuleLanguage,
    accept_edits: Rules,
    auto: Rules,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(language: &'a RuleLanguage) -> Result<Self, PolicyFileError> {
        let accept_edits = PolicyFile::built_in(EDITS, "mode accept_edits", language)?.rules();
        let auto = Profile::WorkspaceWrite.file(language)?.rules();
        Ok(Self { language, accept_edits, auto })
    }

    /// Makes a policy of a profile and layers, the weightiest first.
    pub(crate) fn policy(
        &self,
        profile: Option<Profile>,
        layers: &[Layer<'_>],
    ) -> Result<Policy, PolicyFileError> {
        let built_in = match profile {
            Some(profile) => {
                let rules = profile.file(self.language)?.rules();
                Some(PolicyLayer::new(format!("profile {profile}"), rules))
            }
            None => None,
        };
        let own = layers.iter().map(|layer| layer.of(&layer.says.rules));
        let policy = Policy::layered(built_in.into_iter().chain(own))
            .accept_edits(self.accept_edits.clone())
            .auto(self.auto.clone())
            .language(self.language.clone());
        let names: BTreeSet<&str> =
            layers.iter().flat_map(|layer| layer.says.agents.keys()).map(|name| &**name).collect();
        Ok(names.into_iter().fold(policy, |policy, name| policy.agent(name, agent(name, layers))))
    }
}

impl Layer<'_> {
    fn of(&self, rules: &RuleLists) -> PolicyLayer {
        let layer = PolicyLayer::new(self.name, rules.to_rules());
        if self.is_trusted { layer } else { layer.untrusted() }
    }
}

/// Merges what the layers say of an agent, each layer in its place.
fn agent(name: &str, layers: &[Layer<'_>]) -> AgentPolicy {
    let said = || layers.iter().filter_map(|layer| Some((layer, layer.says.agents.get(name)?)));
    let own = said().filter_map(|(layer, rules)| Some(layer.of(rules.permissions.as_ref()?)));
    let policy = AgentPolicy::new(own);
    if said().all(|(_, rules)| rules.ceiling.is_none()) {
        return policy;
    }
    // A layer without a ceiling keeps its rules for one, as it would have by itself: the ceiling of another layer must
    // not take away what bounds the agents below.
    let bounds = |rules: &AgentRules| rules.ceiling.clone().or_else(|| rules.permissions.clone());
    policy.ceiling(said().filter_map(|(layer, rules)| Some(layer.of(&bounds(rules)?))).collect::<Vec<_>>())
}
