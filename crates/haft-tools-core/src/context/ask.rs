use super::CallContext;
use crate::executor::{StoppedClocks, ask_person};
use crate::{AskError, AskedQuestion, Question, Seat};
use haft_core::EventKind;
use serde_json::Value;

impl CallContext {
    /// Asks a person a question, and waits for the answer: a string for a text or a choice, a boolean for a confirmation,
    /// an object for a form.
    ///
    /// Meanwhile the call's clock stands still, and it holds no room that others could use.
    ///
    /// ```
    /// use haft_tools_core::{AskError, CallContext, CallScope, Question};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), haft_core::IdError> {
    /// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
    /// assert_eq!(cx.ask(Question::confirm("Really?")).await, Err(AskError::Nobody));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no answer: nobody was there, wanted to or did so in time, what they answered does not fit the
    /// question, or the call was cancelled. The error's text is written for the model.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future withdraws the question.
    pub async fn ask(&self, question: Question) -> Result<Value, AskError> {
        let Some(frame) = self.frame() else { return Err(AskError::Nobody) };
        if self.is_finished() {
            return Err(AskError::Cancelled);
        }
        let asked = AskedQuestion::new(question, self.scope(), self.call_id().clone(), self.tool_name());
        frame.emit(self.call_id(), || EventKind::QuestionAsked { question: asked.question.text.clone() });
        let stopped = StoppedClocks::of(Some(self));
        let response = tokio::select! {
            biased;
            () = self.cancellation().cancelled() => None,
            response = self.room().lend_while(Seat::lent(self.scope(), ask_person(frame, &asked))) => Some(response),
        };
        drop(stopped);
        response.ok_or(AskError::Cancelled)?.into_answer(&asked.question)
    }
}
