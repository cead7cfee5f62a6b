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
    let mut results = Vec::with_capacity(items.len());
    match strategy {
        Strategy::Parallel if items.len() > 1 => {
            let mut running = futures_util::stream::iter(items).map(work).buffered(width.max(1));
            while let Some(result) = running.next().await {
                results.push(result);
            }
        }
        Strategy::Parallel | Strategy::Sequential => {
            for item in items {
                results.push(work(item).await);
            }
        }
    }
    results
}
