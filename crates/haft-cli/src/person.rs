use crate::editor;
use crate::policy_setup::PolicyInForce;
use crate::prompt::{Prompt, Said};
use crate::typed::typed;
use async_trait::async_trait;
use haft::policy::LoadedPolicy;
use haft::tools_core::{
    Approval, Approver, AskedQuestion, Explanation, Limits, ModeSwitch, PendingCall, QuestionOutcome,
};
use haft::{Policy, ToolRegistry};
use std::io::{IsTerminal as _, stdin};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Answers an executor in the name of the person at the command line.
///
/// Calls are approved by flag or answered later: they are asked about when all that can be done is done and kept. What a
/// running tool wants to know is asked at once, if there is a terminal.
pub(crate) struct Person {
    approves_all: bool,
    /// Held while a question is on the screen, so that two tools never ask at once.
    screen: Mutex<()>,
}

impl Person {
    pub(crate) fn new(approves_all: bool) -> Self {
        Self { approves_all, screen: Mutex::new(()) }
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, _call: &PendingCall) -> Approval {
        if self.approves_all { Approval::Approve } else { Approval::Later }
    }

    async fn answer(&self, question: &AskedQuestion) -> QuestionOutcome {
        if !at_terminal() {
            return QuestionOutcome::Nobody;
        }
        let _screen = self.screen.lock().await;
        let question = question.clone();
        on_terminal(move |prompt| prompt.question(&question)).await.unwrap_or(QuestionOutcome::Nobody)
    }
}

/// Tells whether there is somebody to ask.
pub(crate) fn at_terminal() -> bool {
    stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks the person at the terminal for a yes; whatever else they say, or nothing, is none.
pub(crate) async fn confirm(question: &str) -> bool {
    let question = question.to_owned();
    on_terminal(move |prompt| prompt.confirm(&question)).await.unwrap_or(false)
}

/// Asks the person at the terminal about calls that wait, and explains them.
pub(crate) struct Terminal {
    policy: Policy,
    limits: Limits,
    mode: ModeSwitch,
    tools: ToolRegistry,
}

impl Terminal {
    /// Asks about calls that are decided by this policy, of these tools.
    pub(crate) fn new(in_force: &PolicyInForce, tools: &ToolRegistry) -> Self {
        let LoadedPolicy { policy, limits, .. } = &in_force.loaded;
        let (policy, limits, mode) = (policy.clone(), limits.clone(), in_force.mode.clone());
        Self { policy, limits, mode, tools: tools.clone() }
    }

    /// Asks about a call until there is an answer; without one it stays for later.
    pub(crate) async fn ask(&self, pending: &PendingCall) -> Approval {
        let explained: Arc<[Explanation]> = self.explain(pending).into();
        let pending = Arc::new(pending.clone());
        let mut input = pending.call.input.clone();
        loop {
            let (shown, explained) = (Arc::clone(&pending), Arc::clone(&explained));
            match on_terminal(move |prompt| prompt.call(&shown, &explained)).await {
                Some(Said::Answer(approval)) => return approval,
                Some(Said::Edit) => match editor::edit(&input).await {
                    Ok(Some(edited)) => match editor::refusal(&self.tools, &self.limits, &pending, &edited) {
                        None => return Approval::Edit { input: edited },
                        Some(refusal) => {
                            editor::print_refusal(&refusal);
                            // What was written is mended, not written again.
                            input = edited;
                        }
                    },
                    Ok(None) => errln!("  nothing was changed"),
                    Err(error) => {
                        errln!("  {}", crate::timeline::visible(&format!("{error:#}")));
                    }
                },
                None => return Approval::Later,
            }
        }
    }

    /// Says of every access how it is decided by the rules in force.
    fn explain(&self, pending: &PendingCall) -> Vec<Explanation> {
        let Some(tool) = self.tools.get(&pending.call.name) else { return Vec::new() };
        let scope = pending.scope();
        let verdicts = self.policy.explain_in(&scope, self.mode.get(), tool, &pending.accesses);
        verdicts.iter().map(|verdict| verdict.explain(self.policy.rule_language())).collect()
    }
}

/// Has a prompt read from standard input; gives `None` if that broke.
///
/// # Cancel safety
///
/// The question ends with the future: what is typed afterwards is somebody else's to read.
async fn on_terminal<T: Send + 'static>(
    ask: impl FnOnce(&mut Prompt<'_>) -> T + Send + 'static,
) -> Option<T> {
    let (mut input, _asking) = typed().ok()?;
    let asked = tokio::task::spawn_blocking(move || {
        // The screen is not locked, so that what happens while a line is waited for can still be said there.
        ask(&mut Prompt { input: &mut input, out: &mut anstream::stderr() })
    });
    asked.await.ok()
}
