/// Describes a pattern of the addresses of resources, as servers list it.
///
/// ```
/// use haft_mcp::ListedTemplate;
///
/// let mut notes = ListedTemplate::new("note:///{name}", "Notes");
/// notes.mime_type = Some("text/markdown".to_owned());
/// assert_eq!((notes.uri_template.as_str(), notes.title), ("note:///{name}", None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedTemplate {
    /// The pattern, as of RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What resources of it are.
    pub description: Option<String>,
    /// The type of their content.
    pub mime_type: Option<String>,
}

impl ListedTemplate {
    /// Describes a pattern by itself and its name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
        }
    }
}
