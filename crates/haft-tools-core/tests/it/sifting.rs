//! Reads whose tool passes by what is denied below them.

use crate::fixture::{Probe, call, read, reply, resource, scope, spec};
use crate::policy::{policies, reading, tools};
use crate::resources::{paths, resources};
use haft_core::{Decision, ToolOutput};
use haft_tools_core::{
    Access, Accesses, AgentPolicy, Batch, CallScope, LocalExecutor, Mode, ModeSwitch, Policy, PolicyLayer,
    Resource, Rules, ToolExecutor as _, ToolRegistry,
};
use proptest::prelude::*;
use serde_json::json;
use std::sync::{Arc, Mutex};

fn decide(policy: &Policy, access: Access) -> Decision {
    policy.decide(&spec("t"), &Accesses::from(access)).decision()
}

#[test]
fn a_rule_that_denies_a_part_does_not_deny_the_whole() {
    let policy = Policy::new().allow(reading("file:**")).deny(reading("file:keys/**"));
    let sifted = |text| decide(&policy, read(text).sifted());
    assert_eq!(sifted("file:**"), Decision::Allow);
    assert_eq!(sifted("file:keys/**"), Decision::Deny);
    assert_eq!(sifted("file:keys/old/**"), Decision::Deny);
    assert_eq!(sifted("file:keys/a"), Decision::Deny);
    assert_eq!(decide(&policy, read("file:**")), Decision::Deny);
}

#[test]
fn a_tree_whose_root_is_denied_is_denied_and_a_file_is_no_tree() {
    let policy = Policy::new().allow(reading("file:**")).deny(reading("file:keys"));
    assert_eq!(decide(&policy, read("file:keys/**").sifted()), Decision::Deny);
    assert_eq!(decide(&policy, read("file:**").sifted()), Decision::Allow);
    let below = Policy::new().allow(reading("file:**")).deny(reading("file:keys/**"));
    assert_eq!(decide(&below, read("file:keys").sifted()), Decision::Deny);
}

#[test]
fn among_many_rules_it_is_the_same() {
    let many = (0..40).fold(Policy::new().allow(reading("file:**")), |policy, each| {
        policy.deny(reading(&format!("file:keys/{each}/**")))
    });
    assert_eq!(decide(&many, read("file:**").sifted()), Decision::Allow);
    assert_eq!(decide(&many, read("file:keys/7/**").sifted()), Decision::Deny);
    assert_eq!(decide(&many.deny(tools("t")), read("file:**").sifted()), Decision::Deny);
}

#[test]
fn what_is_to_be_asked_about_is_asked_about_for_the_whole() {
    let policy = Policy::new().allow(reading("file:**")).ask(reading("file:keys/**"));
    assert_eq!(decide(&policy, read("file:**").sifted()), Decision::Ask);
}

#[test]
fn a_rule_that_denies_the_tool_denies_it() {
    let policy = Policy::new().allow(reading("file:**"));
    assert_eq!(decide(&policy.deny(tools("t")), read("file:**").sifted()), Decision::Deny);
}

#[test]
fn only_reads_are_sifted() {
    let policy = Policy::new().allow(tools("*")).deny(crate::policy::writing("file:keys/**"));
    let write = Access::write(resource("file:**")).sifted();
    assert!(!write.is_sifted() && !Access::opaque("all").sifted().is_sifted());
    assert_eq!(decide(&policy, write), Decision::Deny);
}

#[test]
fn it_is_kept_with_the_access_and_is_another_access() {
    let sifted = read("file:**").sifted();
    assert_ne!(sifted, read("file:**"));
    let kept: Access = serde_json::from_value(serde_json::to_value(&sifted).unwrap()).unwrap();
    assert_eq!(kept, sifted);
    let forged = json!({ "kind": "resource", "mode": "write", "resource": "file:a", "sifted": true });
    assert!(serde_json::from_value::<Access>(forged).is_ok_and(|access| !access.is_sifted()));
}

#[test]
fn what_a_tool_does_without_is_not_denied_to_it_but_with_the_tool() {
    let policy = || Policy::new().allow(reading("file:**"));
    let denied = || policy().deny(reading("file:.git/**")).deny(reading("file:keys/a"));
    for read in [read("file:.git/info/exclude"), read("file:keys/a"), read("file:keys/**"), read("file:**")] {
        assert_eq!(decide(&denied(), read.clone()), Decision::Deny, "{read}");
        assert_eq!(decide(&denied(), read.clone().dispensable()), Decision::Allow, "{read}");
        assert_eq!(decide(&denied().deny(tools("t")), read.clone().dispensable()), Decision::Deny, "{read}");
        let many = (0..40).fold(denied(), |many, each| many.deny(reading(&format!("file:{each}/**"))));
        assert_eq!(decide(&many, read.clone().dispensable()), Decision::Allow, "{read}");
        assert_eq!(decide(&many.deny(tools("t")), read.dispensable()), Decision::Deny);
    }
    // Nothing is allowed by it: what no rule allows is asked about, and what is to be asked about, too.
    let exclude = || read("file:.git/info/exclude").dispensable();
    assert_eq!(decide(&Policy::new().deny(reading("file:.git/**")), exclude()), Decision::Ask);
    assert_eq!(decide(&policy().ask(reading("file:.git/**")), exclude()), Decision::Ask);
    assert_eq!(
        decide(&policy().deny(reading("file:.git/**")), Access::opaque("all").dispensable()),
        Decision::Ask
    );
}

#[test]
fn only_a_read_is_dispensable_and_it_is_kept_with_the_access() {
    let policy = Policy::new().allow(tools("*")).deny(crate::policy::writing("file:keys/**"));
    let write = Access::write(resource("file:keys/a")).dispensable();
    assert!(!write.is_dispensable() && !Access::opaque("all").dispensable().is_dispensable());
    assert_eq!(decide(&policy, write), Decision::Deny);
    let dispensable = read("file:a").dispensable();
    assert_ne!(dispensable, read("file:a"));
    let kept: Access = serde_json::from_value(serde_json::to_value(&dispensable).unwrap()).unwrap();
    assert_eq!(kept, dispensable);
    let forged = json!({ "kind": "resource", "mode": "write", "resource": "file:a", "dispensable": true });
    assert!(serde_json::from_value::<Access>(forged).is_ok_and(|access| !access.is_dispensable()));
}

/// Runs a tool that looks at what is not denied of some files, in a scope.
async fn looked_at(policy: Policy, mode: Mode, scope: CallScope) -> Vec<&'static str> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let declared =
        |_: &serde_json::Value| Ok([read("file:**").sifted(), read("file:keys/a").dispensable()].into());
    let probe = Probe::new("t").declare(declared).run(move |_, cx| {
        let files = ["a", "keys/a", "src/a"];
        let passes = |file: &&str| !cx.denies(&read(&format!("file:{file}")));
        noted.lock().unwrap().extend(files.into_iter().filter(passes));
        std::future::ready(Ok(ToolOutput::text("")))
    });
    let executor = LocalExecutor::builder(ToolRegistry::new().with(probe).unwrap())
        .policy(policy)
        .mode(&ModeSwitch::new(mode));
    let batch = Batch::new(scope, vec![call("c1", "t", json!({}))]);
    let outcome = executor.build().execute_batch(batch).await;
    let status = outcome.into_replies().unwrap().remove(0).status;
    assert!(status.is_ok(), "{status}");
    Arc::try_unwrap(seen).unwrap().into_inner().unwrap()
}

#[tokio::test]
async fn a_tool_is_told_what_is_denied_to_it() {
    let policy = || Policy::new().allow(reading("file:**"));
    let all = ["a", "keys/a", "src/a"];
    assert_eq!(looked_at(policy(), Mode::Default, scope()).await, all);
    let denied = policy().deny(reading("file:keys/**"));
    assert_eq!(looked_at(denied.clone(), Mode::Default, scope()).await, ["a", "src/a"]);
    assert_eq!(looked_at(denied, Mode::DenyUnknown, scope()).await, ["a", "src/a"]);
}

#[tokio::test]
async fn what_is_denied_to_the_agent_or_above_it_is_denied_too() {
    let layer = |path: &str| PolicyLayer::new("own", Rules::new().deny(reading(path)));
    let policy = Policy::new()
        .allow(reading("file:**"))
        .agent("reader", AgentPolicy::new([layer("file:src/**")]))
        .agent("lead", AgentPolicy::new([]).ceiling([layer("file:keys/**")]));
    let lead = scope().with_agent("lead");
    let reader = lead.child("run-2".parse().unwrap()).with_agent("reader");
    assert_eq!(looked_at(policy.clone(), Mode::Default, lead).await, ["a", "src/a"]);
    assert_eq!(looked_at(policy, Mode::Default, reader).await, ["a"]);
}

#[tokio::test]
async fn a_call_that_may_read_nothing_of_it_is_refused() {
    let probe = Probe::new("t").declare(|_| Ok(read("file:keys/**").sifted().into()));
    let policy = Policy::new().allow(reading("file:**")).deny(reading("file:keys/**"));
    let executor = LocalExecutor::builder(ToolRegistry::new().with(probe).unwrap()).policy(policy).build();
    let reply = reply(&executor, "t", json!({})).await;
    assert_eq!(reply.status, haft_core::ReplyStatus::Denied);
}

/// Something in a resource.
fn below(within: &Resource, path: &str, subtree: bool) -> Resource {
    if !within.is_subtree() {
        return within.clone();
    }
    let parts = [within.path(), path].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let make = if subtree { Resource::subtree } else { Resource::exact };
    make(within.scheme().clone(), parts.join("/"))
}

proptest! {
    #[test]
    fn what_is_allowed_below_a_sifted_read_is_allowed_by_itself_or_denied(
        policy in policies(), within in resources(), path in paths(), subtree in any::<bool>()
    ) {
        let below = below(&within, &path, subtree);
        prop_assert!(within.contains(&below));
        let whole = decide(&policy, Access::read(within.clone()).sifted());
        let by_itself = decide(&policy, Access::read(below));
        prop_assert!(by_itself <= whole || by_itself == Decision::Deny, "{by_itself:?} in {whole:?}");
        // It is never laxer than the rules that are not about parts.
        let unsifted = decide(&policy, Access::read(within.clone()));
        prop_assert!(whole <= unsifted);
        prop_assert!(whole == unsifted || unsifted == Decision::Deny);
        // Nor is one that the tool does without, and a tree of which it does so is not stricter than one that it sifts.
        let dispensable = decide(&policy, Access::read(within).dispensable());
        prop_assert!(dispensable == unsifted || unsifted == Decision::Deny);
        prop_assert!(dispensable <= whole);
    }
}
