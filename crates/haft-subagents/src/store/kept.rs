use super::ChildStore;
use crate::ChildRecord;
use async_trait::async_trait;
use haft_core::RunId;
use haft_store::ChildRuns;
use haft_tools_core::StoreError;
use serde_json::Value;

/// Keeps runs beside those at the top of their trees, with which they go: in a file, or in a database of several machines.
#[async_trait]
impl<S: ChildRuns> ChildStore for S {
    async fn put(&self, record: &ChildRecord) -> Result<(), StoreError> {
        let written = serde_json::to_value(record);
        let written = written.map_err(|error| StoreError::new("keep the run", error))?;
        self.put_child(&record.run, &record.root, &written).await
    }

    async fn get(&self, run: &RunId) -> Result<Option<ChildRecord>, StoreError> {
        self.child(run).await?.map(read).transpose()
    }

    async fn tree(&self, root: &RunId) -> Result<Vec<ChildRecord>, StoreError> {
        self.children(root).await?.into_iter().map(read).collect()
    }

    async fn keep(
        &self,
        run: &RunId,
        head: Value,
        from: usize,
        entries: Vec<Value>,
    ) -> Result<(), StoreError> {
        self.keep_child(run, head, from, entries).await
    }

    async fn state(&self, run: &RunId) -> Result<Option<(Value, Vec<Value>)>, StoreError> {
        self.child_state(run).await
    }

    async fn forget(&self, root: &RunId) -> Result<(), StoreError> {
        self.forget_children(root).await
    }
}

fn read(record: Value) -> Result<ChildRecord, StoreError> {
    let version = record.get("version").and_then(Value::as_u64);
    if version.is_some_and(|version| version > u64::from(ChildRecord::VERSION)) {
        let reason = format!(
            "it was kept in the form {}, and this program knows the forms up to {}; use the newer one",
            version.unwrap_or_default(),
            ChildRecord::VERSION
        );
        return Err(StoreError::new("read the run", reason));
    }
    serde_json::from_value(record).map_err(|error| StoreError::new("read the run", error))
}
