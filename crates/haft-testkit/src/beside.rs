use std::fmt;
use std::time::Duration;

/// Is what two works took that were measured by turns, so that what else the machine did hit both or neither.
///
/// ```
/// # #[cfg(unix)] {
/// use haft_testkit::Beside;
/// use std::time::Duration;
///
/// let mut echo = Beside::new("echo", "1.15");
/// echo.round(Duration::from_millis(2), Duration::from_millis(4));
/// echo.round(Duration::from_millis(9), Duration::from_millis(9));
/// echo.round(Duration::from_millis(3), Duration::from_millis(4));
/// let row = echo.to_string();
/// let row: Vec<_> = row.split_whitespace().collect();
/// // The least time of each, the ratio of these, the median of the ratios of all rounds, and the goal.
/// assert_eq!(row, ["echo", "2.0ms", "4.0ms", "0.500", "0.750", "1.15"]);
/// # }
/// ```
#[derive(Debug)]
pub struct Beside<'a> {
    name: &'a str,
    goal: &'a str,
    best: [Duration; 2],
    ratios: Vec<f64>,
}

impl<'a> Beside<'a> {
    /// Begins a row of this name, with what the ratio may be at most.
    pub fn new(name: &'a str, goal: &'a str) -> Self {
        Self { name, goal, best: [Duration::MAX; 2], ratios: Vec::new() }
    }

    /// Gives the head of a table of such rows, with what stands beside haft.
    pub fn head(other: &str) -> String {
        let head = ["haft", other, "ratio", "median", "at most"].map(|name| format!("{name:>10}"));
        format!("{:<40} {}", "", head.join(" "))
    }

    /// Takes note of what both took in one round.
    pub fn round(&mut self, ours: Duration, theirs: Duration) {
        self.best = [self.best[0].min(ours), self.best[1].min(theirs)];
        self.ratios.push(ours.as_secs_f64() / theirs.as_secs_f64());
    }
}

impl fmt::Display for Beside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
        let ratio = self.best[0].as_secs_f64() / self.best[1].as_secs_f64();
        let [ours, theirs] = self.best.map(|time| format!("{time:.1?}"));
        let Self { name, goal, .. } = self;
        write!(f, "{name:<40} {ours:>10} {theirs:>10} {ratio:>10.3} {median:>10.3} {goal:>10}")
    }
}
