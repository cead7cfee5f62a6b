use crate::person::{Person, Terminal, at_terminal};
use crate::policy_setup::PolicyInForce;
use async_trait::async_trait;
use haft::ToolRegistry;
use haft::tools_core::{Approval, Approver, AskedQuestion, PendingCall, QuestionOutcome};

/// Answers for the person who called: at once, since the call is not kept.
pub(crate) struct Present {
    person: Person,
    approves_all: bool,
    terminal: Option<Terminal>,
}

impl Present {
    pub(crate) fn new(approves_all: bool, policy: &PolicyInForce, tools: &ToolRegistry) -> Self {
        let terminal = at_terminal().then(|| Terminal::new(policy, tools));
        Self { person: Person::new(approves_all), approves_all, terminal }
    }
}

#[async_trait]
impl Approver for Present {
    async fn approve(&self, call: &PendingCall) -> Approval {
        match &self.terminal {
            Some(terminal) if !self.approves_all => terminal.ask(call).await,
            None if !self.approves_all => Approval::Nobody,
            _ => self.person.approve(call).await,
        }
    }

    async fn answer(&self, question: &AskedQuestion) -> QuestionOutcome {
        self.person.answer(question).await
    }
}
