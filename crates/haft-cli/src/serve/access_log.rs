use haft::mcp::{AccessEntry, AccessLog, JsonlAccessLog};
use haft::tools_core::Redactor;

/// Writes an access log in which no secret stands, whatever a client calls a tool.
pub(super) struct RedactedLog {
    log: JsonlAccessLog,
    redactor: Redactor,
}

impl RedactedLog {
    pub(super) fn new(log: JsonlAccessLog, redactor: Redactor) -> Self {
        Self { log, redactor }
    }
}

impl AccessLog for RedactedLog {
    fn record(&self, entry: &AccessEntry) {
        if self.redactor.is_empty() {
            return self.log.record(entry);
        }
        let mut entry = entry.clone();
        for text in [&mut entry.method, &mut entry.tool, &mut entry.refused].into_iter().flatten() {
            *text = self.redactor.redact(text).into_owned();
        }
        self.log.record(&entry);
    }
}
