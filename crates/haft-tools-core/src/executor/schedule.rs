use futures_util::StreamExt as _;

/// Says which calls of a batch may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// One after the other: each is prepared and decided when the one before it has ended.
    #[default]
    Sequential,
    /// All at once, up to the executor's width; for batches whose calls do not touch the same things.
    Parallel,
}

/// Runs one unit of work for each item by the strategy, and gives the results in the order of the items.
pub(super) async fn schedule<T, R, F>(
    strategy: Strategy,
    width: usize,
    items: Vec<T>,
    work: impl Fn(T) -> F,
) -> Vec<R>
where
    F: Future<Output = R>,
{
    match strategy {
        Strategy::Parallel if items.len() > 1 => {
            let units = items.into_iter().enumerate().map(|(place, item)| {
                let unit = work(item);
                async move { (place, unit.await) }
            });
            // A slow unit must not keep the place of those behind it that have ended.
            let running = futures_util::stream::iter(units).buffer_unordered(width.max(1));
            let mut results: Vec<(usize, R)> = running.collect().await;
            results.sort_unstable_by_key(|(place, _)| *place);
            results.into_iter().map(|(_, result)| result).collect()
        }
        Strategy::Parallel | Strategy::Sequential => {
            let mut results = Vec::with_capacity(items.len());
            for item in items {
                results.push(work(item).await);
            }
            results
        }
    }
}
