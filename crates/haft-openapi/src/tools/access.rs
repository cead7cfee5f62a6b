//! What a call touches.

use crate::Operation;
use crate::auth::{Grant, With};
use crate::tools::Shared;
use haft_core::ToolError;
use haft_http::Endpoint;
use haft_tools_core::{Access, Accesses, Resource, Scheme};
use url::Url;

const NET: Scheme = Scheme::new("net");

/// The scheme of operations: `openapi:document/operation`.
const OPENAPI: Scheme = Scheme::new("openapi");

pub(super) fn accesses(
    shared: &Shared,
    operation: &Operation,
    url: &Url,
    grant: &Grant,
) -> Result<Accesses, ToolError> {
    let mut accesses = vec![connect(url)?];
    for shown in &grant.shown {
        if let With::Client(client) = &shown.with {
            let connect = connect(&client.token_url)?;
            if !accesses.contains(&connect) {
                accesses.push(connect);
            }
        }
    }
    let call = Resource::exact(OPENAPI, format!("{}/{}", shared.name, operation.name()));
    let call = Access::call(call).ordered_in(&Resource::exact(OPENAPI, shared.name.as_str()));
    // What a method says of itself counts for the order alone: whether it may be called is decided by its resource.
    accesses.push(if shared.orders_itself || operation.hints().read_only { call.unordered() } else { call });
    Ok(accesses.into())
}

fn connect(url: &Url) -> Result<Access, ToolError> {
    let endpoint = Endpoint::of_url(url.as_str()).map_err(|error| {
        ToolError::failed("the operation is on a server that no connection can be made to; go on without it")
            .with_source(error)
    })?;
    Ok(Access::connect(Resource::exact(NET, endpoint.to_string())))
}
