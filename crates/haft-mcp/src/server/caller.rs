use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Names whoever calls, as it was found out before anything of the protocol was read; never a secret.
///
/// ```
/// use haft_mcp::Principal;
///
/// assert_eq!((Principal::local().as_str(), Principal::anyone().as_str()), ("local", "anyone"));
/// assert_eq!(Principal::new("ann"), Principal::new("ann"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Principal(Arc<str>);
impl Principal {
    /// Names the owner of this process, who calls over standard input or a socket that only they can open.
    pub fn local() -> Self {
        Self("local".into())
    }
    /// Names whoever reaches this machine's own address, where nobody is asked who they are.
    pub fn anyone() -> Self {
        Self("anyone".into())
    }

    /// Names a caller by what was checked of them: the name of a token, or issuer and subject.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
    /// Borrows the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Says who calls and what their client can do; made anew for each request, since in the newer era each says it anew.
///
/// ```
/// use haft_mcp::{Abilities, Caller, Principal};
///
/// let mut can = Abilities::default();
/// can.forms = true;
/// let caller = Caller::new(Principal::new("ann")).with_client("an-editor", "1.2").who_can(can);
/// assert_eq!(caller.client, Some(("an-editor".to_owned(), "1.2".to_owned())));
/// assert!(caller.can.forms && !caller.can.sampling);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Caller {
    /// Who calls.
    pub principal: Principal,
    /// The client's own name and version; they identify nothing.
    pub client: Option<(String, String)>,
    /// The session, in the era that has them: one connection of standard input, or one id over HTTP.
    pub session: Option<Arc<str>>,
    /// What the client can be asked.
    pub can: Abilities,
}

impl Caller {
    /// Says who calls, by a client that said nothing of itself and can be asked nothing.
    pub fn new(principal: Principal) -> Self {
        Self { principal, client: None, session: None, can: Abilities::default() }
    }

    /// Adds what the client calls itself: its name and version.
    pub fn with_client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client = Some((name.into(), version.into()));
        self
    }

    /// Adds the session.
    pub fn in_session(mut self, session: impl Into<Arc<str>>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Says what the client can be asked.
    pub fn who_can(mut self, can: Abilities) -> Self {
        self.can = can;
        self
    }
}

/// Says what a client can be asked.
///
/// ```
/// use haft_mcp::{Abilities, Caller, Principal};
///
/// assert_eq!(Caller::new(Principal::local()).can, Abilities::default());
/// assert!(!Abilities::default().roots);
/// ```
#[expect(clippy::struct_excessive_bools, reason = "each is a claim of its own, named where it is set")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Abilities {
    /// To show a form (`elicitation`, or `elicitation.form`).
    pub forms: bool,
    /// To have a person open an address (`elicitation.url`).
    pub addresses: bool,
    /// To take a turn of a model.
    pub sampling: bool,
    /// To name its roots.
    pub roots: bool,
    /// To be answered with a task (`extensions["io.modelcontextprotocol/tasks"]`).
    pub tasks: bool,
}

/// Names one of the things a client may be able to do.
///
/// ```
/// use haft_mcp::{Ability, ClientAskError};
///
/// /// Says what to do about a client that cannot.
/// fn advice(error: &ClientAskError) -> &'static str {
///     match error {
///         ClientAskError::Unable(Ability::Forms) => "give it as an argument instead",
///         ClientAskError::Unable(_) => "use a client that can",
///         _ => "ask again later",
///     }
/// }
/// assert_eq!(advice(&ClientAskError::Unable(Ability::Sampling)), "use a client that can");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ability {
    /// To show a form.
    Forms,
    /// To have a person open an address.
    Addresses,
    /// To take a turn of a model.
    Sampling,
    /// To name its roots.
    Roots,
    /// To be answered with a task.
    Tasks,
}
