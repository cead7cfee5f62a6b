use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Is where the server writes, one line at a time, from whichever thread.
#[derive(Clone)]
pub(crate) struct Outlet(Arc<Mutex<dyn Write + Send>>);

impl Outlet {
    pub(crate) fn new(to: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(to)))
    }

    pub(crate) fn answer(&self, id: &Value, result: &Value) {
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub(crate) fn refuse(&self, id: &Value, code: i64, message: &str, data: &Value) {
        let error = json!({ "code": code, "message": message, "data": data });
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.message(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn message(&self, message: &Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        self.raw(&line);
    }

    /// Writes what it is given. A client that has gone is no reason to say anything.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        let mut to = self.0.lock().expect("a lock");
        let _ = to.write_all(bytes).and_then(|()| to.flush());
    }
}
