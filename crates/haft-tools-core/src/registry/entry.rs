use super::RegistryError;
use crate::Tool;
use crate::validation::InputValidator;
use haft_core::{Digest, Exposure, ToolName, ToolSpec};
use std::sync::{Arc, OnceLock};

/// Holds one registered tool with what is compiled once for all its calls.
pub(crate) struct Entry {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) validator: Arc<InputValidator>,
    pub(crate) repairs: bool,
    /// The tool's name, shared with the contexts of its calls.
    pub(crate) name: Arc<str>,
    version: OnceLock<Digest>,
}

impl Entry {
    pub(crate) fn new(tool: Arc<dyn Tool>) -> Result<Arc<Self>, RegistryError> {
        let spec = Arc::new(tool.spec().clone());
        let validator = InputValidator::compile(spec.input_schema())
            .map_err(|reason| RegistryError::Schema { name: spec.name().clone(), which: "input", reason })?;
        Ok(Arc::new(Self::of(spec, tool, Arc::new(validator), true)))
    }

    fn of(spec: Arc<ToolSpec>, tool: Arc<dyn Tool>, validator: Arc<InputValidator>, repairs: bool) -> Self {
        let name = spec.name().as_str().into();
        Self { spec, tool, validator, repairs, name, version: OnceLock::new() }
    }

    pub(crate) fn version(&self) -> Digest {
        *self.version.get_or_init(|| self.spec.version())
    }

    pub(crate) fn renamed(&self, name: ToolName) -> Arc<Self> {
        self.respecified(ToolSpec::clone(&self.spec).renamed(name))
    }

    pub(crate) fn exposed(&self, exposure: Exposure) -> Arc<Self> {
        self.respecified(ToolSpec::clone(&self.spec).with_exposure(exposure))
    }

    pub(crate) fn unrepaired(&self) -> Arc<Self> {
        Arc::new(Self::of(Arc::clone(&self.spec), Arc::clone(&self.tool), Arc::clone(&self.validator), false))
    }

    fn respecified(&self, spec: ToolSpec) -> Arc<Self> {
        let (tool, validator) = (Arc::clone(&self.tool), Arc::clone(&self.validator));
        Arc::new(Self::of(Arc::new(spec), tool, validator, self.repairs))
    }
}
