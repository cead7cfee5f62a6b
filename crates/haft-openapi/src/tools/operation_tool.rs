use super::access::accesses;
use super::call::Call;
use super::usable_schema::usable;
use crate::auth::Requirement;
use crate::tools::Shared;
use crate::{EncodeError, Operation};
use haft_core::{ToolError, ToolName, ToolSpec};
use haft_tools_core::{CallScope, CompiledSchema, Prepared, Tool};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};
use url::Url;

/// Is an operation as a tool.
pub(crate) struct OperationTool(Arc<Inner>);

/// Is what the calls of an operation share.
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) operation: Operation,
    pub(crate) name: ToolName,
    spec: OnceLock<ToolSpec>,
    requirement: OnceLock<Requirement>,
    output: OnceLock<Option<CompiledSchema>>,
}

impl OperationTool {
    pub(super) fn new(shared: Arc<Shared>, operation: Operation) -> Self {
        let name = ToolName::project(&format!("{}__{}", shared.name, operation.name()));
        let (spec, requirement, output) = Default::default();
        Self(Arc::new(Inner { shared, operation, name, spec, requirement, output }))
    }
}

impl Inner {
    /// What replies are held against, if they are.
    pub(crate) fn output(&self) -> Option<&CompiledSchema> {
        if !self.shared.output_schemas {
            return None;
        }
        let compile =
            || CompiledSchema::compile(self.operation.output_schema()?.into_schema().as_value().clone()).ok();
        self.output.get_or_init(compile).as_ref()
    }

    fn make_spec(&self) -> ToolSpec {
        let Self { shared, operation, name, .. } = self;
        let spec = operation.spec_with(&shared.name, usable(operation.input_schema(), &shared.patterns));
        let spec = spec.renamed(name.clone()).with_exposure(shared.exposure);
        let output = shared.output_schemas.then(|| operation.output_schema()).flatten();
        match output {
            Some(schema) => spec.with_output_schema(usable(schema, &shared.patterns)),
            None => spec,
        }
    }
}

impl Tool for OperationTool {
    fn spec(&self) -> &ToolSpec {
        self.0.spec.get_or_init(|| self.0.make_spec())
    }

    fn prepare(&self, input: &Value, _: &CallScope) -> Result<Prepared, ToolError> {
        let Inner { shared, operation, name, .. } = &*self.0;
        let parts = operation.encode(input).map_err(|error| match &error {
            EncodeError::Argument { .. } => ToolError::invalid_input(format!(
                "`{name}` cannot be called with these arguments: {error}; correct them and call the tool again"
            ))
            .with_source(error),
            EncodeError::Server(_) => ToolError::failed(format!(
                "`{name}` cannot be called, since it is not known which server it is on; go on without it"
            ))
            .with_source(error),
        })?;
        let url = Url::parse(parts.url()).map_err(|error| {
            ToolError::failed(format!("`{name}` has an address that cannot be used; go on without it"))
                .with_source(error)
        })?;
        let requirement = self.0.requirement.get_or_init(|| operation.requirement());
        let grant = shared.keyring.grant(requirement, &url)?;
        let accesses = accesses(shared, operation, &url, &grant)?;
        let prepared = Prepared::new(accesses, Call::new(Arc::clone(&self.0), parts, url, grant))
            .with_timeout(shared.limits.timeout);
        // By what HTTP says of the method (RFC 9110, section 9.2.2).
        Ok(if operation.hints().idempotent { prepared.repeatable() } else { prepared })
    }
}

impl fmt::Debug for OperationTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OperationTool").field(&self.0.name).finish()
    }
}
