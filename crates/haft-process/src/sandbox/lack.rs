use std::fmt;

/// Says what a sandbox cannot do here of what it is asked for.
///
/// Its text says what is weaker for it, and what would help.
///
/// ```
/// use haft_process::sandbox::{Confinement, Sandbox, SandboxLack};
///
/// // As on a system that has no means for it: whether a program runs all the same is the host's decision.
/// let lacks = Sandbox::missing().lacks(&Confinement::new());
/// assert!(lacks.iter().any(|lack| !lack.is_of_limits()));
/// assert_eq!(
///     SandboxLack::System.to_string(),
///     "programs are not confined at all: this needs Linux, or macOS with `sandbox-exec`",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SandboxLack {
    /// The system is none that can confine programs.
    System,
    /// No Landlock: files are not confined.
    Files,
    /// A Landlock older than its third version: files can be emptied.
    Truncation,
    /// A Landlock older than its fourth version: TCP reaches any port.
    Ports,
    /// A Landlock older than its sixth version: other processes of the user can be sent signals.
    Signals,
    /// No filter of system calls: sockets, and what is asked of the kernel, are not confined.
    SystemCalls,
    /// No user namespaces: what is protected below a writable directory can be written.
    Protection,
    /// No user namespaces: what is hidden can be read.
    Hiding,
    /// No user namespaces, or the user is root: how many processes there are is not limited.
    Processes,
    /// The system bounds no program's memory.
    Memory,
}

impl SandboxLack {
    /// Tells whether only the use of resources is not bounded: nothing gets out by that.
    pub fn is_of_limits(self) -> bool {
        matches!(self, Self::Processes | Self::Memory)
    }

    /// Says for a model what is weaker, without what the host would need for it.
    ///
    /// ```
    /// use haft_process::sandbox::SandboxLack;
    ///
    /// assert_eq!(SandboxLack::Memory.model_text(), "memory is not limited");
    /// assert_eq!(SandboxLack::Memory.to_string(), "memory is not limited: this needs Linux");
    /// ```
    pub fn model_text(self) -> &'static str {
        match self {
            Self::System => "programs are not confined at all",
            Self::Files => "files are not confined",
            Self::Truncation => "files anywhere can be emptied, though not written",
            Self::Ports => "TCP is not confined to ports",
            Self::Signals => "other processes of the user can be sent signals",
            Self::SystemCalls => "sockets and system calls are not confined",
            Self::Protection => "what is protected below a writable directory can be written",
            Self::Hiding => "what is hidden can be read",
            Self::Processes => "the number of processes is not limited",
            Self::Memory => "memory is not limited",
        }
    }

    /// Names what would help.
    fn needs(self) -> &'static str {
        match self {
            Self::System => "Linux, or macOS with `sandbox-exec`",
            Self::Files => {
                "Landlock, Linux 5.13 or later with `landlock` among those of `/sys/kernel/security/lsm`"
            }
            Self::Truncation => "Linux 6.2 or later",
            Self::Ports => "Linux 6.7 or later",
            Self::Signals => "Linux 6.12 or later",
            Self::SystemCalls => "a kernel with `CONFIG_SECCOMP_FILTER`",
            Self::Protection => {
                "user namespaces; see `kernel.unprivileged_userns_clone`, `kernel.apparmor_restrict_unprivileged_userns` \
                 and `user.max_user_namespaces` of sysctl, or what your container allows"
            }
            Self::Hiding => "user namespaces",
            Self::Processes => "user namespaces, and a user other than root",
            Self::Memory => "Linux",
        }
    }
}

impl fmt::Display for SandboxLack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: this needs {}", self.model_text(), self.needs())
    }
}
