/// Says how much of what a document says is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Detail {
    /// The most bytes of a description; none is kept if it is zero.
    pub(super) description: usize,
    pub(super) examples: bool,
    /// The most values that are listed for a choice.
    pub(super) choices: usize,
    /// How many schemas may stand within each other before one is left open.
    pub(super) depth: usize,
    /// Definitions are left open once there is no more room, those first that are the farthest from the arguments.
    pub(super) opens: bool,
}

/// From all that is needed to what is left when there is no room; each is tried once the one before it was too large.
pub(super) const LEVELS: [Detail; 7] = [
    Detail { description: 1000, examples: true, choices: 1000, depth: 100, opens: false },
    Detail { description: 160, examples: false, choices: 250, depth: 100, opens: false },
    Detail { description: 80, examples: false, choices: 100, depth: 100, opens: true },
    Detail { description: 80, examples: false, choices: 50, depth: 5, opens: true },
    Detail { description: 60, examples: false, choices: 30, depth: 3, opens: true },
    Detail { description: 40, examples: false, choices: 20, depth: 2, opens: true },
    LEAST,
];

pub(super) const LEAST: Detail =
    Detail { description: 0, examples: false, choices: 10, depth: 1, opens: true };
