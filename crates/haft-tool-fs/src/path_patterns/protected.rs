use super::tree::Extent;

/// A place whose content has other programs run something, or has haft decide otherwise.
///
/// It is meant at any depth, in the working directory and outside, and whatever the letter case. No pattern for writing
/// opens it by a wildcard; see [`PathPatterns`](super::PathPatterns).
///
/// ```
/// // What a host tells a person who wonders why a write is asked about.
/// let places = haft_tool_fs::protected_places();
/// let place = places.iter().find(|place| place.pattern() == ".git/hooks").expect("it is one of them");
/// assert_eq!(format!("{}: {}", place.pattern(), place.reason()), ".git/hooks: git runs what is in it");
/// assert!(place.covers_tree());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtectedPlace {
    pattern: &'static str,
    extent: Extent,
    is_versioned: bool,
    reason: &'static str,
}

impl ProtectedPlace {
    /// The place, as a pattern: `.git/hooks`, `.git/modules/**/config`. It matches at any depth.
    pub fn pattern(&self) -> &'static str {
        self.pattern
    }

    /// Tells whether everything below the place is protected too.
    ///
    /// A `.git` itself is protected, because a file of that name says where a repository's hooks are; most of what
    /// lies in such a directory is not.
    pub fn covers_tree(&self) -> bool {
        self.extent == Extent::Tree
    }

    /// Tells whether many repositories keep it, so that git writes it with all else that it checks out: a sandbox that held it
    /// would have git fail.
    pub fn is_versioned(&self) -> bool {
        self.is_versioned
    }

    /// What can be done by writing there, in a few words for people.
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }
}

/// Lists the places that no wildcard opens for writing.
///
/// ```
/// let listed: Vec<&str> = haft_tool_fs::protected_places().iter().map(|place| place.pattern()).collect();
/// assert!([".git", ".bashrc", ".git/hooks"].iter().all(|place| listed.contains(place)));
/// ```
pub fn protected_places() -> &'static [ProtectedPlace] {
    &PLACES
}

const REPOSITORY: &str = "it says where git finds its hooks and settings";
const HOOKS: &str = "git runs what is in it";
const GIT_SETTINGS: &str = "git runs programs that it names";
const SHELL: &str = "a shell runs it when it starts or ends";
const SESSION: &str = "a login or a desktop session runs it";
const DIRENV: &str = "direnv runs it when the directory is entered";
const SERVERS: &str = "agents start the servers that it names";
const AGENTS: &str = "agents run programs that it names";
const EDITORS: &str = "editors run programs that it names";
const CONTAINER: &str = "editors build and start it";
const LOGINS: &str = "it says who may log in, and what ssh runs";
const POLICY: &str = "it says what haft may do";
const STATE: &str = "haft keeps grants and waiting calls in it";

const fn tree(pattern: &'static str, reason: &'static str) -> ProtectedPlace {
    ProtectedPlace { pattern, extent: Extent::Tree, is_versioned: false, reason }
}

const fn itself(pattern: &'static str, reason: &'static str) -> ProtectedPlace {
    ProtectedPlace { pattern, extent: Extent::Itself, is_versioned: false, reason }
}

const fn versioned(pattern: &'static str, reason: &'static str) -> ProtectedPlace {
    ProtectedPlace { pattern, extent: Extent::Tree, is_versioned: true, reason }
}

const PLACES: [ProtectedPlace; 64] = [
    itself(".git", REPOSITORY),
    tree(".git/commondir", REPOSITORY),
    tree(".git/hooks", HOOKS),
    tree(".git/config", GIT_SETTINGS),
    tree(".git/config.worktree", GIT_SETTINGS),
    tree(".git/modules/**/commondir", REPOSITORY),
    tree(".git/modules/**/hooks", HOOKS),
    tree(".git/modules/**/config", GIT_SETTINGS),
    tree(".git/modules/**/config.worktree", GIT_SETTINGS),
    tree(".git/worktrees/**/commondir", REPOSITORY),
    tree(".git/worktrees/**/hooks", HOOKS),
    tree(".git/worktrees/**/config", GIT_SETTINGS),
    tree(".git/worktrees/**/config.worktree", GIT_SETTINGS),
    tree(".gitconfig", GIT_SETTINGS),
    tree(".config/git/config", GIT_SETTINGS),
    tree(".profile", SHELL),
    tree(".bashrc", SHELL),
    tree(".bash_profile", SHELL),
    tree(".bash_login", SHELL),
    tree(".bash_logout", SHELL),
    tree(".bash_aliases", SHELL),
    tree(".zshrc", SHELL),
    tree(".zshenv", SHELL),
    tree(".zprofile", SHELL),
    tree(".zlogin", SHELL),
    tree(".zlogout", SHELL),
    tree(".kshrc", SHELL),
    tree(".mkshrc", SHELL),
    tree(".cshrc", SHELL),
    tree(".tcshrc", SHELL),
    tree(".login", SHELL),
    tree(".logout", SHELL),
    tree("config.fish", SHELL),
    tree("fish/conf.d", SHELL),
    tree("fish/functions", SHELL),
    tree("nushell/env.nu", SHELL),
    tree("nushell/config.nu", SHELL),
    tree(".inputrc", SHELL),
    tree(".xinitrc", SESSION),
    tree(".xprofile", SESSION),
    tree(".xsession", SESSION),
    tree(".xsessionrc", SESSION),
    tree(".pam_environment", SESSION),
    tree(".envrc", DIRENV),
    tree(".config/autostart", SESSION),
    tree(".config/systemd", SESSION),
    tree("Library/LaunchAgents", SESSION),
    tree(".ssh", LOGINS),
    versioned(".vscode", EDITORS),
    versioned(".zed", EDITORS),
    versioned(".devcontainer", CONTAINER),
    versioned(".devcontainer.json", CONTAINER),
    tree(".mcp.json", SERVERS),
    tree(".claude/settings.json", AGENTS),
    tree(".claude/settings.local.json", AGENTS),
    tree(".claude/hooks", AGENTS),
    tree(".codex", AGENTS),
    tree(".cursor/mcp.json", SERVERS),
    tree(".cursor/hooks.json", AGENTS),
    tree(".gemini/settings.json", AGENTS),
    tree(".amazonq/mcp.json", SERVERS),
    tree(".kiro/settings", SERVERS),
    tree("haft.toml", POLICY),
    tree(".haft", STATE),
];
