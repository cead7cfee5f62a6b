use crate::assembly::{Assembly, Layer};
use crate::file_tree::{FileTree, Merged, Node};
use crate::loaded_policy::Note;
use crate::policy_file::PolicyFile;
use crate::problem::{PolicyFileError, PolicyProblem, Problems};
use crate::test_case::{Subject, TestCase};
use crate::test_report::{TestOutcome, TestResult};
use haft_core::{Decision, RunId, Schema, ToolName, ToolSpec};
use haft_tools_core::{Access, Accesses, CallScope, DeclareError, Mode, Policy, Tool, ToolRegistry, Verdict};
use std::sync::Arc;

/// Gives the tool of a name, if there is one.
pub(crate) type Named<'a> = dyn Fn(&str) -> Option<Arc<dyn Tool>> + 'a;

/// Says by which tools calls in tests are prepared.
#[derive(Clone, Copy, Default)]
pub(crate) struct TestTools<'a> {
    pub(crate) registry: Option<&'a ToolRegistry>,
    pub(crate) others: Option<&'a Named<'a>>,
}

impl TestTools<'_> {
    /// Gives the tool of this name alone, if it is not among the known ones and there is one elsewhere.
    fn other(&self, name: &str) -> Option<ToolRegistry> {
        if self.registry.is_some_and(|tools| tools.get(name).is_some()) {
            return None;
        }
        ToolRegistry::new().with(self.others?(name)?).ok()
    }
}

/// Gathers what became of the tests of files.
#[derive(Debug, Default)]
pub(crate) struct Tested {
    pub(crate) results: Vec<TestResult>,
}

impl Tested {
    /// Runs the tests of every file of a tree, each against the file itself with its profile and what it includes.
    pub(crate) fn run(
        &mut self,
        tree: &FileTree,
        assembly: &Assembly<'_>,
        tools: TestTools<'_>,
    ) -> Result<(), PolicyFileError> {
        for node in tree.nodes().filter(|node| !node.file.tests.is_empty()) {
            let merged = tree.merged_from(node);
            self.of_file(node, &merged, assembly, tools)?;
        }
        Ok(())
    }

    fn of_file(
        &mut self,
        Node { file, .. }: &Node,
        merged: &Merged,
        assembly: &Assembly<'_>,
        tools: TestTools<'_>,
    ) -> Result<(), PolicyFileError> {
        let profile = merged.profile.as_ref().map(|profile| profile.value);
        let mode = merged.mode.as_ref().map(|mode| mode.value).unwrap_or_default();
        let layer = Layer { name: "file", says: merged, is_trusted: true };
        let policy = assembly.policy(profile, &[layer])?;
        for case in &file.tests {
            let test = Test { file, case, policy: &policy, mode: case.mode.unwrap_or(mode) };
            let title = case.name.clone().unwrap_or_else(|| test.written());
            let place = file.source.place(case.range.start);
            self.results.push(TestResult::new(title, test.title(), place, (case.expect, test.run(tools))));
        }
        Ok(())
    }

    /// Counts the tests that passed and notes those that were not run, unless one failed.
    pub(crate) fn counted(&self) -> Result<(usize, Vec<Note>), PolicyFileError> {
        let (mut passed, mut not_run, mut problems) = (0, Vec::new(), Problems::default());
        for result in &self.results {
            match result.outcome() {
                TestOutcome::Passed => passed += 1,
                TestOutcome::NotRun(why) => not_run.push(result.not_run(why)),
                TestOutcome::Failed(problem) => problems.add(problem.clone()),
            }
        }
        problems.unless_any((passed, not_run))
    }
}

/// Is one test with what it is run against.
struct Test<'a> {
    file: &'a PolicyFile,
    case: &'a TestCase,
    policy: &'a Policy,
    mode: Mode,
}

impl Test<'_> {
    fn run(&self, tools: TestTools<'_>) -> TestOutcome {
        let scope = match scope(&self.case.agents) {
            Ok(scope) => scope,
            Err(why) => return self.failed(&why),
        };
        match &self.case.subject {
            Subject::Access(access) => match anonymous() {
                Ok(tool) => self.decide(&scope, &tool, &Accesses::from(Access::clone(access))),
                Err(why) => self.failed(&why),
            },
            Subject::Call { tool, input } => {
                let other;
                let tools = match (tools.registry, tools.other(tool)) {
                    (_, Some(found)) => {
                        other = found;
                        &other
                    }
                    (Some(tools), None) => tools,
                    (None, None) => {
                        return TestOutcome::NotRun(
                            "there are no tools here to make the call with".to_owned(),
                        );
                    }
                };
                match tools.declare(tool, input.clone(), &scope) {
                    Ok(call) => self.decide(&scope, call.tool, &call.accesses),
                    Err(DeclareError::Input { reason }) => self.unfit(tool, &reason),
                    // What is there to call and to be touched is another thing in each workspace.
                    Err(error) => TestOutcome::NotRun(error.to_string()),
                }
            }
        }
    }

    fn decide(&self, scope: &CallScope, tool: &ToolSpec, accesses: &Accesses) -> TestOutcome {
        let verdicts = self.policy.explain_in(scope, self.mode, tool, accesses);
        let got = verdicts.iter().map(Verdict::decision).max().unwrap_or(Decision::Ask);
        if got == self.case.expect {
            return TestOutcome::Passed;
        }
        let message = format!("{} expects {} and gets {got}", self.title(), self.case.expect);
        let problem = self.file.source.problem(&self.case.range, message);
        TestOutcome::Failed(verdicts.iter().fold(problem, |problem, verdict| {
            let explained = verdict.explain(self.policy.rule_language());
            let access = explained.access.as_deref().unwrap_or("the call");
            let change = explained.change.map(|change| format!("; what would change it: {change}"));
            let (decision, reason) = (explained.decision, explained.reason);
            problem.note(format!("{access}: {decision}, {reason}{}", change.unwrap_or_default()))
        }))
    }

    fn unfit(&self, tool: &str, reason: &str) -> TestOutcome {
        let message = format!("{} cannot be run: its input does not fit `{tool}`", self.title());
        let problem = self.file.source.problem(&self.case.range, message);
        // What is written for a model has a line for each fault.
        let faults = reason.lines().filter_map(|line| line.strip_prefix("- "));
        TestOutcome::Failed(faults.fold(problem, PolicyProblem::note))
    }

    fn failed(&self, why: &str) -> TestOutcome {
        let message = format!("{} cannot be run: {why}", self.title());
        TestOutcome::Failed(self.file.source.problem(&self.case.range, message))
    }

    /// What is decided, as it is written in the file.
    fn written(&self) -> String {
        let text = self.file.source.text().get(self.case.range.clone()).unwrap_or_default();
        let mut written = text.trim_matches(['"', '\'']).to_owned();
        if !self.case.agents.is_empty() {
            written = format!("{written} by {}", self.case.agents.join(", "));
        }
        match self.case.mode {
            Some(mode) => format!("{written} in the mode {mode}"),
            None => written,
        }
    }

    fn title(&self) -> String {
        match &self.case.name {
            Some(name) => format!("the test `{name}`"),
            None => "the test".to_owned(),
        }
    }
}

/// Makes the scope of an agent below those above it.
fn scope(agents: &[String]) -> Result<CallScope, String> {
    let run =
        |depth: usize| format!("policy-test-{depth}").parse::<RunId>().map_err(|error| error.to_string());
    let mut scope = CallScope::new(run(0)?);
    for (depth, agent) in agents.iter().enumerate() {
        scope = if depth == 0 { scope } else { scope.child(run(depth)?) };
        scope = scope.with_agent(agent.as_str());
    }
    Ok(scope)
}

/// Describes the tool of an access that no tool in particular makes.
fn anonymous() -> Result<ToolSpec, String> {
    let name: ToolName = "policy-test".parse().map_err(|error: haft_core::NameError| error.to_string())?;
    Ok(ToolSpec::new(name, "Makes the access of a test.", Schema::empty()))
}
