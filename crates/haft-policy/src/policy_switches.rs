use crate::SandboxMode;
use haft_tools_core::Mode;

/// Says what holds of policy files whatever tools there are.
///
/// ```
/// use haft_policy::{PolicyLoader, SandboxMode};
/// use haft_tools_core::{Mode, RuleLanguage};
///
/// let switches = PolicyLoader::new(RuleLanguage::new()).mode(Mode::Plan).switches()?;
/// assert_eq!((switches.mode, switches.sandbox), (Mode::Plan, SandboxMode::Off));
/// # Ok::<(), haft_policy::PolicyFileError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicySwitches {
    /// The mode that runs start in.
    pub mode: Mode,
    /// Whether what is run has to be kept within a sandbox.
    pub sandbox: SandboxMode,
}
