use crate::engine::Engine;
use async_trait::async_trait;
use haft_durable::Performer;
use haft_durable::conformance::{Subject, check};
use haft_durable_restate::Worker;
use haft_tools_core::{Approval, LocalExecutorBuilder, ToolExecutor, approver_fn};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

struct OnEngine {
    engine: Engine,
    workers: Mutex<JoinSet<()>>,
}

#[async_trait]
impl Subject for OnEngine {
    async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let pool = format!("pool-{}", self.workers.lock().unwrap().len());
        let worker = Worker::new(pool.parse().unwrap(), Performer::new(builder));
        self.workers.lock().unwrap().spawn(async move {
            worker.serve(listener, std::future::pending()).await.unwrap();
        });
        self.engine.knows(port).await;
        Arc::new(self.engine.executor(&pool))
    }
}

struct Local;

#[async_trait]
impl Subject for Local {
    async fn executor(&self, builder: LocalExecutorBuilder) -> Arc<dyn ToolExecutor> {
        Arc::new(builder.approver(approver_fn(|_| Approval::Later)).build())
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the server that `cargo xtask durable` installs"]
async fn does_what_every_executor_has_to() {
    let subject = OnEngine { engine: Engine::start().await, workers: Mutex::default() };
    assert_eq!(check(&subject).await, check(&Local).await);
}
