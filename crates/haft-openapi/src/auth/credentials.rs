use crate::auth::Credential;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

/// Gives the credentials of a host, by the names of a document's security schemes.
///
/// It is asked when a call is prepared, so it must answer at once; what takes time is a
/// [`TokenSource`](crate::TokenSource). What it gives is sent only to
/// [origins that the host allows](crate::OpenApiToolsBuilder::allow_origin).
///
/// ```
/// use haft_openapi::{Credential, Credentials};
/// use std::collections::BTreeMap;
///
/// let credentials = BTreeMap::from([("api_key".to_owned(), Credential::secret("k-123"))]);
/// assert!(credentials.credential("api_key").is_some());
/// assert!(credentials.credential("oauth").is_none());
/// ```
pub trait Credentials: Send + Sync + 'static {
    /// The credential for a scheme, if there is one.
    fn credential(&self, scheme: &str) -> Option<Credential>;
}

/// There are none.
impl Credentials for () {
    fn credential(&self, _: &str) -> Option<Credential> {
        None
    }
}

impl Credentials for BTreeMap<String, Credential> {
    fn credential(&self, scheme: &str) -> Option<Credential> {
        self.get(scheme).cloned()
    }
}

impl<S: BuildHasher + Send + Sync + 'static> Credentials for HashMap<String, Credential, S> {
    fn credential(&self, scheme: &str) -> Option<Credential> {
        self.get(scheme).cloned()
    }
}
