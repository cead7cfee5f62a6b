use crate::{Resource, Scheme};
use std::fmt;
use std::ops::Range;

/// Reads the patterns of one domain's rules, such as `src/**` for files.
///
/// What a path, a command or a host is, and how patterns of them are written, is known by the crates of these domains and
/// not here. A [`RuleLanguage`](crate::RuleLanguage) says which syntax the patterns of a mode have.
///
/// ```
/// use haft_tools_core::{AccessMode, PatternError, PatternSet, PatternSyntax, Resource, RuleLanguage, Scheme};
///
/// const NOTE: Scheme = Scheme::new("note");
///
/// /// Knows a note by its title, and all notes by `*`.
/// #[derive(Debug)]
/// struct Notes;
///
/// #[derive(Debug)]
/// struct Titles(Vec<Box<str>>);
///
/// impl PatternSyntax for Notes {
///     fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
///         match patterns.iter().position(|pattern| pattern.is_empty()) {
///             Some(index) => Err(PatternError::new(index, 0..0, "a title is missing")),
///             None => Ok(Box::new(Titles(patterns.to_vec()))),
///         }
///     }
///
///     fn resource(&self, text: &str) -> Result<Resource, PatternError> {
///         Ok(Resource::exact(NOTE, text))
///     }
///
///     fn speaks_of(&self, scheme: &Scheme) -> bool {
///         *scheme == NOTE
///     }
///
///     fn suggest(&self, resource: &Resource) -> Option<String> {
///         (resource.scheme() == &NOTE).then(|| resource.path().to_owned())
///     }
/// }
///
/// impl PatternSet for Titles {
///     fn first_containing(&self, resource: &Resource) -> Option<usize> {
///         self.0.iter().position(|title| **title == *"*" || Resource::exact(NOTE, &**title) == *resource)
///     }
///
///     fn first_touching(&self, resource: &Resource) -> Option<usize> {
///         self.first_containing(resource)
///     }
/// }
///
/// let language = RuleLanguage::new().with(AccessMode::Read, Notes);
/// assert_eq!(language.rule("read(plan)")?.to_string(), "read(plan)");
/// # Ok::<(), haft_tools_core::RuleError>(())
/// ```
pub trait PatternSyntax: fmt::Debug + Send + Sync + 'static {
    /// Tells whether resources of this scheme are what its patterns are about.
    fn speaks_of(&self, scheme: &Scheme) -> bool;

    /// Compiles the patterns of one list of rules, in their order, so that they are tried all at once.
    ///
    /// # Errors
    ///
    /// When one of them is not a pattern: which, where in it, and what to write instead.
    fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError>;

    /// Reads one resource as people write it in a test of a policy: a path, a command, a host with its port.
    ///
    /// # Errors
    ///
    /// When the text is none: where it goes wrong, and what to write instead.
    fn resource(&self, text: &str) -> Result<Resource, PatternError>;

    /// Suggests the narrowest useful pattern that contains the resource, for a grant that outlives one call.
    ///
    /// `None` where each call has to be asked about on its own.
    fn suggest(&self, resource: &Resource) -> Option<String>;

    /// Tells whether only patterns allow the resource, such as one that writes out its name, and no rule that chooses tools.
    ///
    /// Asked each time that a rule which chooses tools would allow an access, so it should cost no more than a look-up.
    fn protects(&self, resource: &Resource) -> bool {
        let _ = resource;
        false
    }

    /// Says what is special about a resource, for whoever wonders why a rule does not contain it.
    fn remark(&self, resource: &Resource) -> Option<String> {
        let _ = resource;
        None
    }
}

/// Matches resources against patterns that were compiled together.
///
/// ```
/// # use haft_tools_core::{AccessMode, PatternError, PatternSet, PatternSyntax, Resource, RuleLanguage, Scheme};
/// #
/// # const NOTE: Scheme = Scheme::new("note");
/// #
/// # /// Knows a note by its title, and all notes by `*`.
/// # #[derive(Debug)]
/// # struct Notes;
/// #
/// # #[derive(Debug)]
/// # struct Titles(Vec<Box<str>>);
/// #
/// # impl PatternSyntax for Notes {
/// #     fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
/// #         match patterns.iter().position(|pattern| pattern.is_empty()) {
/// #             Some(index) => Err(PatternError::new(index, 0..0, "a title is missing")),
/// #             None => Ok(Box::new(Titles(patterns.to_vec()))),
/// #         }
/// #     }
/// #
/// #     fn resource(&self, text: &str) -> Result<Resource, PatternError> {
/// #         Ok(Resource::exact(NOTE, text))
/// #     }
/// #
/// #     fn speaks_of(&self, scheme: &Scheme) -> bool {
/// #         *scheme == NOTE
/// #     }
/// #
/// #     fn suggest(&self, resource: &Resource) -> Option<String> {
/// #         (resource.scheme() == &NOTE).then(|| resource.path().to_owned())
/// #     }
/// # }
/// #
/// # impl PatternSet for Titles {
/// #     fn first_containing(&self, resource: &Resource) -> Option<usize> {
/// #         self.0.iter().position(|title| **title == *"*" || Resource::exact(NOTE, &**title) == *resource)
/// #     }
/// #
/// #     fn first_touching(&self, resource: &Resource) -> Option<usize> {
/// #         self.first_containing(resource)
/// #     }
/// # }
/// let set = Notes.compile(&["plan".into(), "*".into()])?;
/// let note = |title: &str| Resource::exact(NOTE, title);
/// assert_eq!(set.first_containing(&note("plan")), Some(0));
/// assert_eq!(set.first_containing(&note("diary")), Some(1));
/// # Ok::<(), PatternError>(())
/// ```
pub trait PatternSet: fmt::Debug + Send + Sync + 'static {
    /// Finds the first pattern that contains all that the resource stands for, by its place in the list.
    fn first_containing(&self, resource: &Resource) -> Option<usize>;

    /// Finds the first pattern that has anything in common with the resource, by its place in the list.
    ///
    /// What a rule forbids must not be got round by spelling it another way, so this errs towards a match.
    fn first_touching(&self, resource: &Resource) -> Option<usize>;
}

/// Says why a text is not a pattern, and where in it.
///
/// ```
/// use haft_tools_core::PatternError;
///
/// let error = PatternError::new(0, 2..3, "`?` stands for nothing here; write `*`");
/// assert_eq!((error.index(), error.range(), error.reason()), (0, 2..3, "`?` stands for nothing here; write `*`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PatternError {
    index: usize,
    range: Range<usize>,
    reason: String,
}

impl PatternError {
    /// Refuses a part of one pattern of a list, given in bytes, with the reason and the next step.
    pub fn new(index: usize, range: Range<usize>, reason: impl Into<String>) -> Self {
        Self { index, range, reason: reason.into() }
    }

    /// Which pattern of the list it is about, 0-based.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Which bytes of the pattern it is about.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The reason, with the next step.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}
