//! What an API answers, as outputs and errors of tools.

use crate::tools::Inner;
use haft_core::{ToolError, ToolOutput};
use haft_http::Body;
use haft_tools_core::CallContext;
use http::Response;
use url::Url;

/// Is what was asked.
pub(crate) struct Asked<'a> {
    pub(crate) tool: &'a Inner,
    /// The address, without credentials.
    pub(crate) url: &'a Url,
    pub(crate) cx: &'a CallContext,
}

/// Makes an output of an answer, or the error that it tells of.
pub(crate) async fn reply(_asked: &Asked<'_>, answer: Response<Body>) -> Result<ToolOutput, ToolError> {
    let status = answer.status();
    let body =
        answer.into_body().bytes().await.map_err(|error| ToolError::failed("it broke").with_source(error))?;
    let text = String::from_utf8_lossy(&body).into_owned();
    if !status.is_success() {
        return Err(ToolError::failed(text));
    }
    Ok(serde_json::from_str(&text).map_or_else(|_| ToolOutput::text(text), ToolOutput::json))
}
