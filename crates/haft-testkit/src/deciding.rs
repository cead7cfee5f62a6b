use haft_core::{Decision, ToolSpec};
use haft_tools_core::{Accesses, CallScope, Mode, Policy, ToolRegistry, Verdict};
use serde_json::Value;
use std::fmt::Write as _;

/// Tells how calls are decided, without running any of them.
///
/// A call is resolved, validated and prepared as an executor does it, and decided by the policy: what holds here holds for the
/// call itself. Nobody is asked, and no grant counts.
///
/// ```
/// use haft_core::ToolError;
/// use haft_testkit::Deciding;
/// use haft_tools_core::{Access, AccessMode, Accesses, CallContext, Policy, Resource, Rule, Scheme, ToolRegistry, tool_fn};
/// use serde_json::json;
///
/// const NOTE: Scheme = Scheme::new("note");
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Input {
///     title: String,
/// }
///
/// let touched = |input: &Input| {
///     Ok::<_, ToolError>(Accesses::from(Access::read(Resource::exact(NOTE, input.title.as_str()))))
/// };
/// let read = tool_fn("read_note", "Reads a note.", touched, |input: Input, _: CallContext| async move {
///     Ok::<_, ToolError>(input.title)
/// })?;
/// let registry = ToolRegistry::new().with(read)?;
/// let within = |place| Rule::access(AccessMode::Read, Resource::subtree(NOTE, place));
/// let policy = Policy::new().allow(within("open")).deny(within("secret"));
///
/// let deciding = Deciding::new(&registry, &policy);
/// deciding.call("read_note", json!({ "title": "open/plan" })).allowed().by("read(note:open/**)");
/// deciding.call("read_note", json!({ "title": "secret/key" })).denied().by("read(note:secret/**)");
/// deciding.call("read_note", json!({ "title": "diary" })).asked().by_no_rule().touching(["read note:diary"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Deciding<'a> {
    registry: &'a ToolRegistry,
    policy: &'a Policy,
    scope: CallScope,
    mode: Mode,
}

/// Holds how one call was decided. Its checks panic with the verdict on each access, and give it back, so that they chain.
///
/// ```
/// use haft_core::{Decision, Schema, ToolSpec};
/// use haft_testkit::Deciding;
/// use haft_tools_core::{Access, Policy, Resource, Rule, Scheme, ToolRegistry};
///
/// let (registry, policy) = (ToolRegistry::new(), Policy::new().allow(Rule::tools("read_*".parse()?)));
/// let tool = ToolSpec::new("read_note".parse()?, "Reads a note.", Schema::empty());
/// let plan = Access::read(Resource::exact(Scheme::new("note"), "plan"));
///
/// let decided = Deciding::new(&registry, &policy).touching(&tool, &plan.into());
/// assert_eq!(decided.decision(), Decision::Allow);
/// decided.allowed().touching(["read note:plan"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decided {
    call: String,
    decision: Decision,
    rule: Option<String>,
    mode: Option<Mode>,
    accesses: Vec<String>,
    /// The verdict on each access, for whoever reads a failed test.
    verdicts: Vec<String>,
}

impl<'a> Deciding<'a> {
    /// Decides calls of the run `test`, of no agent, in the default mode.
    ///
    /// # Panics
    ///
    /// Never: the name of the run is one.
    pub fn new(registry: &'a ToolRegistry, policy: &'a Policy) -> Self {
        let scope = CallScope::new("test".parse().expect("a valid run id"));
        Self { registry, policy, scope, mode: Mode::Default }
    }

    /// Decides in another mode.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Decides for the agents and in the modes of a scope.
    pub fn scope(mut self, scope: CallScope) -> Self {
        self.scope = scope;
        self
    }

    /// Decides a call of a tool of the registry.
    ///
    /// # Panics
    ///
    /// When there is no such tool, the arguments do not fit it, or it cannot prepare the call: nothing is decided then.
    #[must_use = "nothing is checked before one of its checks is called"]
    #[track_caller]
    pub fn call(&self, name: &str, input: Value) -> Decided {
        match self.registry.declare(name, input, &self.scope) {
            Ok(declared) => self.touching(declared.tool, &declared.accesses),
            Err(error) => panic!("a call of `{name}` cannot be decided: {error}"),
        }
    }

    /// Decides a call of a tool that touches what is said, for tests of a policy alone.
    #[must_use = "nothing is checked before one of its checks is called"]
    pub fn touching(&self, tool: &ToolSpec, accesses: &Accesses) -> Decided {
        let Self { policy, scope, mode, .. } = self;
        let verdict = policy.decide_in(scope, *mode, tool, accesses);
        let each = policy.explain_in(scope, *mode, tool, accesses);
        Decided {
            call: tool.name().to_string(),
            decision: verdict.decision(),
            rule: verdict.rule().map(ToString::to_string),
            mode: verdict.mode(),
            accesses: accesses.iter().map(ToString::to_string).collect(),
            verdicts: each.iter().map(Verdict::to_string).collect(),
        }
    }
}

impl Decided {
    /// The decision itself.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Checks that the call may run.
    ///
    /// # Panics
    ///
    /// When it has to be asked about, or is denied.
    #[track_caller]
    pub fn allowed(self) -> Self {
        self.decided(Decision::Allow)
    }

    /// Checks that somebody has to be asked about the call.
    ///
    /// # Panics
    ///
    /// When it is allowed or denied.
    #[track_caller]
    pub fn asked(self) -> Self {
        self.decided(Decision::Ask)
    }

    /// Checks that the call may not run.
    ///
    /// # Panics
    ///
    /// When it is allowed or asked about.
    #[track_caller]
    pub fn denied(self) -> Self {
        self.decided(Decision::Deny)
    }

    /// Checks which rule decided, as it is written: of several accesses the one that was decided most strictly.
    ///
    /// # Panics
    ///
    /// When it was another rule, or none.
    #[track_caller]
    pub fn by(self, rule: &str) -> Self {
        let found = self.rule.as_deref();
        assert!(found == Some(rule), "{}", self.report(&format!("was expected to be decided by `{rule}`")));
        self
    }

    /// Checks that no rule decided: what nothing speaks of, or what the mode says of it.
    ///
    /// # Panics
    ///
    /// When a rule did.
    #[track_caller]
    pub fn by_no_rule(self) -> Self {
        assert!(self.rule.is_none(), "{}", self.report("was expected to be decided by no rule"));
        self
    }

    /// Checks that a mode decided.
    ///
    /// # Panics
    ///
    /// When it was another mode, or the rules.
    #[track_caller]
    pub fn by_mode(self, mode: Mode) -> Self {
        let expected = format!("was expected to be decided by the mode {mode}");
        assert!(self.mode == Some(mode), "{}", self.report(&expected));
        self
    }

    /// Checks what the call touches, access by access as they are printed: `write file:src/lib.rs`.
    ///
    /// # Panics
    ///
    /// When it touches anything else, or in another order.
    #[track_caller]
    pub fn touching<'a>(self, accesses: impl IntoIterator<Item = &'a str>) -> Self {
        let expected: Vec<&str> = accesses.into_iter().collect();
        let is_same = self.accesses == expected;
        assert!(is_same, "{}", self.report(&format!("was expected to touch [{}]", expected.join(", "))));
        self
    }

    #[track_caller]
    fn decided(self, expected: Decision) -> Self {
        let is_same = self.decision == expected;
        assert!(is_same, "{}", self.report(&format!("was expected to be decided `{expected}`")));
        self
    }

    fn report(&self, expected: &str) -> String {
        let mut report = format!("`{}` {expected}, and is decided `{}`:", self.call, self.decision);
        for verdict in &self.verdicts {
            // Writing to a string cannot fail.
            let _ = write!(report, "\n- {verdict}");
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::Deciding;
    use expect_test::{Expect, expect};
    use haft_core::{Schema, ToolSpec};
    use haft_tools_core::{Access, AccessMode, Accesses, Mode, Policy, Resource, Rule, Scheme, ToolRegistry};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const NOTE: Scheme = Scheme::new("note");

    fn policy() -> Policy {
        let within = |mode, place| Rule::access(mode, Resource::subtree(NOTE, place));
        Policy::new().allow(within(AccessMode::Read, "open")).deny(within(AccessMode::Read, "open/secret"))
    }

    fn spec() -> ToolSpec {
        let schema = Schema::new(serde_json::json!({ "type": "object" })).expect("a schema");
        ToolSpec::new("look".parse().expect("a name"), "Looks.", schema)
    }

    fn reads(places: &[&str]) -> Accesses {
        places.iter().map(|place| Access::read(Resource::exact(NOTE, *place))).collect()
    }

    /// Says how a check fails.
    fn check(fails: impl FnOnce(&Deciding<'_>), expected: &Expect) {
        let (registry, policy) = (ToolRegistry::new(), policy());
        let deciding = Deciding::new(&registry, &policy);
        let payload = catch_unwind(AssertUnwindSafe(|| fails(&deciding))).expect_err("the check fails");
        expected.assert_eq(payload.downcast_ref::<String>().map_or("no text", String::as_str));
    }

    #[test]
    fn checks_that_hold_chain() {
        let (registry, policy) = (ToolRegistry::new(), policy());
        let deciding = Deciding::new(&registry, &policy);
        deciding
            .touching(&spec(), &reads(&["open/a", "open/secret/b"]))
            .denied()
            .by("read(note:open/secret/**)")
            .touching(["read note:open/a", "read note:open/secret/b"]);
        let unknown = deciding.mode(Mode::DenyUnknown);
        unknown.touching(&spec(), &reads(&["else"])).denied().by_no_rule().by_mode(Mode::DenyUnknown);
    }

    #[test]
    fn what_does_not_hold_is_told_access_by_access() {
        check(
            |deciding| drop(deciding.touching(&spec(), &reads(&["open/a", "else"])).allowed()),
            &expect![[r"
                `look` was expected to be decided `allow`, and is decided `ask`:
                - read note:open/a: allow by the rule read(note:open/**)
                - read note:else: ask, no rule speaks of it"]],
        );
        check(
            |deciding| drop(deciding.touching(&spec(), &reads(&["open/a"])).allowed().by("read(**)")),
            &expect![[r"
                `look` was expected to be decided by `read(**)`, and is decided `allow`:
                - read note:open/a: allow by the rule read(note:open/**)"]],
        );
        check(
            |deciding| drop(deciding.touching(&spec(), &reads(&["open/a"])).by_mode(Mode::Plan)),
            &expect![[r"
                `look` was expected to be decided by the mode plan, and is decided `allow`:
                - read note:open/a: allow by the rule read(note:open/**)"]],
        );
        check(
            |deciding| drop(deciding.call("look", serde_json::json!({}))),
            &expect!["a call of `look` cannot be decided: there is no tool `look`"],
        );
    }
}
