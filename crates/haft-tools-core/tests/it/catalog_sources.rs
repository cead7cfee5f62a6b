//! Sources for the tests of catalogs.

use crate::fixture::Probe;
use async_trait::async_trait;
use haft_core::{Origin, Schema, ToolSpec};
use haft_tools_core::{
    CallScope, ChangeSignal, Changes, OfferedTools, Prepared, SourceError, Tool, ToolSource,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Says what a source does when it is asked next.
#[derive(Clone)]
pub(crate) enum Now {
    Gives(Vec<Arc<dyn Tool>>),
    Fails(&'static str),
    Panics,
    Hangs,
    Takes(Duration, Vec<Arc<dyn Tool>>),
}

/// Is a source that does what a test tells it to.
#[derive(Clone)]
pub(crate) struct Script {
    name: &'static str,
    now: Arc<Mutex<Now>>,
    pub(crate) signal: ChangeSignal,
    asked: Arc<AtomicU32>,
}

impl Script {
    pub(crate) fn new(name: &'static str, now: Now) -> Self {
        Self { name, now: Arc::new(Mutex::new(now)), signal: ChangeSignal::default(), asked: Arc::default() }
    }

    pub(crate) fn of(name: &'static str, tools: &[(&str, &str)]) -> Self {
        Self::new(name, Now::Gives(tools_of(name, tools)))
    }

    pub(crate) fn now(&self, now: Now) {
        *self.now.lock().unwrap() = now;
    }

    pub(crate) fn gives(&self, tools: &[(&str, &str)]) {
        self.now(Now::Gives(tools_of(self.name, tools)));
    }

    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl ToolSource for Script {
    fn name(&self) -> &str {
        self.name
    }

    async fn tools(&self) -> Result<OfferedTools, SourceError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let now = self.now.lock().unwrap().clone();
        match now {
            Now::Gives(tools) => Ok(tools.into()),
            Now::Fails(reason) => Err(SourceError::new("cannot list the tools").with_source(reason)),
            Now::Panics => panic!("no tools today"),
            Now::Hangs => std::future::pending().await,
            Now::Takes(delay, tools) => {
                tokio::time::sleep(delay).await;
                Ok(tools.into())
            }
        }
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.signal.changes())
    }
}

/// Makes tools of a server, each of a name and a description.
pub(crate) fn tools_of(server: &str, tools: &[(&str, &str)]) -> Vec<Arc<dyn Tool>> {
    tools
        .iter()
        .map(|(name, description)| Arc::new(tool(server, name, description)) as Arc<dyn Tool>)
        .collect()
}

pub(crate) fn tool(server: &str, name: &str, description: &str) -> Probe {
    let origin = Origin::Mcp { server: server.to_owned(), tool: name.to_owned() };
    let schema = Schema::new(json!({ "properties": { "text": { "type": "string" } } })).unwrap();
    Probe::new(name)
        .spec(|spec| ToolSpec::new(spec.name().clone(), description, schema).with_origin(origin))
        .says(server)
}

/// Panics when it is asked to describe itself.
pub(crate) struct Indescribable;

impl Tool for Indescribable {
    fn spec(&self) -> &ToolSpec {
        panic!("I am nothing")
    }

    fn prepare(&self, _input: &Value, _scope: &CallScope) -> Result<Prepared, haft_core::ToolError> {
        panic!("I do nothing")
    }
}
