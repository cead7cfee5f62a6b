use crate::{ServerConfig, Transport};
use haft_core::{Digest, DigestError};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

/// Identifies a server by what is started or spoken to, never by a name: neither the one it gives itself nor the one it is
/// called by here.
///
/// For a program these are the command, its arguments and its directory, and for a service its address, each as it is
/// [written](ServerConfig::written) before variables are replaced: it is the same one when a secret changes. So a server that is called otherwise is the same one, and another program under a known name
/// is not. A program without a directory is the same one wherever haft is started: give it one where that matters.
///
/// ```
/// use haft_mcp::{ServerConfig, ServerIdentity, ServerProgram, Transport};
///
/// let server = |name: &str, command: &str| {
///     let program = ServerProgram::new(command, ["--quiet"]);
///     Ok::<_, haft_mcp::ServerNameError>(ServerConfig::new(name.parse()?, Transport::Stdio(program)))
/// };
/// let identity = ServerIdentity::of(&server("time", "mcp-time")?);
/// assert_eq!(identity, ServerIdentity::of(&server("clock", "mcp-time")?));
/// assert_ne!(identity, ServerIdentity::of(&server("time", "mcp-clock")?));
/// assert_eq!(identity.to_string().parse(), Ok(identity));
/// # Ok::<(), haft_mcp::ServerNameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerIdentity(Digest);

impl ServerIdentity {
    /// Identifies a server that is configured.
    pub fn of(server: &ServerConfig) -> Self {
        let told = match server.written.as_ref().unwrap_or(&server.transport) {
            Transport::Stdio(program) => {
                let arguments: Vec<Value> =
                    program.arguments.iter().map(|argument| exact(argument)).collect();
                let directory = program.directory.as_ref().map(|directory| exact(directory.as_os_str()));
                json!({ "command": exact(&program.command), "arguments": arguments, "directory": directory })
            }
            Transport::Http(service) => json!({ "url": service.url }),
            Transport::Unix(path) => json!({ "unix": exact(path.as_os_str()) }),
        };
        Self(Digest::of(&told))
    }
}

/// Writes what need not be Unicode so that no two read the same.
fn exact(text: &OsStr) -> Value {
    text.to_str().map_or_else(|| json!(text.as_encoded_bytes()), Value::from)
}

impl fmt::Display for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ServerIdentity {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        text.parse().map(Self)
    }
}
