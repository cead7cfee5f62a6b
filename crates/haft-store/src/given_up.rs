/// Says what there was of a run that was given up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GivenUp {
    /// Whether the run was kept and had not ended.
    pub run: bool,
    /// How many calls waited in it, and in the runs below it.
    pub calls: usize,
}
