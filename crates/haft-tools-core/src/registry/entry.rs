use super::RegistryError;
use crate::Tool;
use crate::output::READ_OUTPUT;
use crate::panicked::{self, apart};
use crate::tokens::estimate_tokens;
use crate::validation::InputValidator;
use haft_core::{Digest, Exposure, Origin, ToolName, ToolSpec};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// The most characters that are kept of the reason why a schema cannot be used, which may quote the schema.
const MOST_CHARACTERS: usize = 1_000;

/// Holds one registered tool with what is compiled once for all its calls.
pub(crate) struct Entry {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) validator: Arc<InputValidator>,
    pub(crate) repairs: bool,
    /// Whether it is the tool that reads stored outputs, under whatever name.
    pub(crate) reads_outputs: bool,
    pub(crate) bounds_replies: bool,
    version: OnceLock<Digest>,
    tokens: OnceLock<u64>,
}

impl Entry {
    pub(crate) fn new(tool: Arc<dyn Tool>) -> Result<Arc<Self>, RegistryError> {
        Self::renewed(tool, |_| None)
    }

    /// Takes a tool in, and keeps of an earlier one of its name what still holds: a schema that stayed the same is not
    /// compiled again.
    pub(crate) fn renewed<'a>(
        tool: Arc<dyn Tool>,
        earlier: impl FnOnce(&str) -> Option<&'a Arc<Self>>,
    ) -> Result<Arc<Self>, RegistryError> {
        let spec = read_spec(&*tool)?;
        let earlier = earlier(spec.name().as_str());
        if let Some(known) = earlier.filter(|known| *known.spec == spec) {
            if known.repairs && Arc::ptr_eq(&known.tool, &tool) {
                return Ok(Arc::clone(known));
            }
            let (spec, validator) = (Arc::clone(&known.spec), Arc::clone(&known.validator));
            let (version, tokens) = (known.version.clone(), known.tokens.clone());
            return Ok(Arc::new(Self { version, tokens, ..Self::of(spec, tool, validator, true) }));
        }
        let validator = match earlier.filter(|known| known.spec.input_schema() == spec.input_schema()) {
            Some(known) => Arc::clone(&known.validator),
            None => Arc::new(compile(&spec)?),
        };
        Ok(Arc::new(Self::of(Arc::new(spec), tool, validator, true)))
    }

    fn of(spec: Arc<ToolSpec>, tool: Arc<dyn Tool>, validator: Arc<InputValidator>, repairs: bool) -> Self {
        let mut bounds_replies = false;
        apart(|| bounds_replies = tool.bounds_replies());
        let reads_outputs = *spec.origin() == Origin::Builtin && spec.name().as_str() == READ_OUTPUT;
        Self {
            spec,
            tool,
            validator,
            repairs,
            reads_outputs,
            bounds_replies,
            version: OnceLock::new(),
            tokens: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.spec.name().as_str()
    }

    pub(crate) fn version(&self) -> Digest {
        *self.version.get_or_init(|| self.spec.version())
    }

    /// Estimates, once, what telling a model of the tool costs.
    pub(crate) fn tokens(&self) -> u64 {
        *self.tokens.get_or_init(|| estimate_tokens(&self.spec))
    }

    pub(crate) fn renamed(&self, name: ToolName) -> Arc<Self> {
        self.respecified(ToolSpec::clone(&self.spec).renamed(name))
    }

    pub(crate) fn exposed(&self, exposure: Exposure) -> Arc<Self> {
        self.respecified(ToolSpec::clone(&self.spec).with_exposure(exposure))
    }

    pub(crate) fn unrepaired(&self) -> Arc<Self> {
        let (spec, tool, validator) =
            (Arc::clone(&self.spec), Arc::clone(&self.tool), Arc::clone(&self.validator));
        let reads_outputs = self.reads_outputs;
        Arc::new(Self { reads_outputs, ..Self::of(spec, tool, validator, false) })
    }

    fn respecified(&self, spec: ToolSpec) -> Arc<Self> {
        let (tool, validator) = (Arc::clone(&self.tool), Arc::clone(&self.validator));
        let reads_outputs = self.reads_outputs;
        Arc::new(Self { reads_outputs, ..Self::of(Arc::new(spec), tool, validator, self.repairs) })
    }
}

fn read_spec(tool: &dyn Tool) -> Result<ToolSpec, RegistryError> {
    // A tool that panicked is not used again.
    catch_unwind(AssertUnwindSafe(|| tool.spec().clone()))
        .map_err(|payload| RegistryError::Panicked { message: panicked::message(&*payload) })
}

fn compile(spec: &ToolSpec) -> Result<InputValidator, RegistryError> {
    let refuse = |reason: String| {
        let reason = reason.chars().take(MOST_CHARACTERS).collect();
        RegistryError::Schema { name: spec.name().clone(), which: "input", reason }
    };
    // Nothing of an attempt that panicked is used again.
    catch_unwind(AssertUnwindSafe(|| InputValidator::compile(spec.input_schema())))
        .unwrap_or_else(|payload| Err(format!("compiling it panicked: {}", panicked::message(&*payload))))
        .map_err(refuse)
}
