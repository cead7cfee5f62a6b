use async_trait::async_trait;
use haft::tools_core::{Before, Layer, LayerAnswer, LayerCall};
use haft::{AccessMode, Accesses};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most answers that are kept; the oldest go first.
const MOST_ANSWERS: usize = 100;

/// Answers calls that only look at things from memory, until a call changes one of these things.
///
/// It goes by what calls declare and not by hints. Calls that conflict wait for each other, so no answer is kept of what
/// another call changes at the same time.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Vec<Kept>>);

struct Kept {
    tool: String,
    input: serde_json::Value,
    accesses: Accesses,
    answer: LayerAnswer,
}

impl Cache {
    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether a call looks at things and does nothing else; one that declares nothing may tell the time.
fn only_reads(accesses: &Accesses) -> bool {
    !accesses.is_empty() && accesses.iter().all(|access| access.mode() == Some(AccessMode::Read))
}

#[async_trait]
impl Layer for Cache {
    async fn before(&self, call: &LayerCall<'_>) -> Before {
        let kept = self.kept();
        let same = |kept: &&Kept| kept.tool == call.spec.name().as_str() && kept.input == call.call.input;
        match kept.iter().find(same) {
            Some(kept) => Before::skip(kept.answer.clone()),
            None => Before::proceed(),
        }
    }

    async fn after(&self, call: &LayerCall<'_>, answer: LayerAnswer) -> LayerAnswer {
        let mut kept = self.kept();
        if !only_reads(call.accesses) {
            kept.retain(|kept| !kept.accesses.conflict_with(call.accesses));
        } else if answer.status.is_ok() {
            if kept.len() == MOST_ANSWERS {
                kept.remove(0);
            }
            kept.push(Kept {
                tool: call.spec.name().to_string(),
                input: call.call.input.clone(),
                accesses: call.accesses.clone(),
                answer: answer.clone(),
            });
        }
        answer
    }
}
