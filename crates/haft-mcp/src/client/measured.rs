//! A connection alone, for what measures it; no part of the API.

use crate::client::rmcp_session::{Opening, StdioDial};
use crate::client::session::{Ask, AskRefused, Counterpart, Dial as _, News, Request, Session, Watch};
use crate::{Era, MemoryEras, ServerConfig, ServerNameError, ServerProgram, Transport};
use async_trait::async_trait;
use haft_process::Environment;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// Is a connection to a server without anything of what is built on it: for what measures it, and no part of the API.
pub struct Measured(Arc<dyn Session>);

impl Measured {
    /// Starts a program and opens a connection to it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the program.
    pub async fn connect(program: ServerProgram, era: Era) -> Result<Self, String> {
        let name = "measured".parse().map_err(|error: ServerNameError| error.to_string())?;
        let mut config = ServerConfig::new(name, Transport::Stdio(program.clone()));
        config.era = Some(era);
        let opening = Opening::new(&config, Arc::new(MemoryEras::default()));
        let dial = StdioDial { program, environment: Environment::minimal(), opening };
        dial.dial(Arc::new(Nobody)).await.map(Self).map_err(|error| error.to_string())
    }

    /// Calls a tool and gives its result.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the call.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = Request { method: "tools/call", params };
        self.0.request(request, Some(Arc::new(Nobody))).await.map_err(|fault| fault.to_string())
    }

    /// Ends the connection and the program.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it goes on.
    pub async fn close(&self) {
        self.0.close().await;
    }
}

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Measured").field(self.0.server()).finish()
    }
}

struct Nobody;

#[async_trait]
impl Counterpart for Nobody {
    fn capabilities(&self) -> Value {
        json!({})
    }

    async fn answer(&self, ask: Ask, _of: Option<Arc<dyn Watch>>) -> Result<Value, AskRefused> {
        Err(AskRefused { code: -32_601, message: format!("nobody answers {}", ask.method) })
    }

    fn hear(&self, _news: News) {}
}

impl Watch for Nobody {
    fn progress(&self, _done: f64, _total: Option<f64>, _text: Option<&str>) {}

    fn call(&self) -> Option<&haft_tools_core::CallContext> {
        None
    }
}
