//! The list of tools that a model is given at the start of a turn, when no tool has changed.

use crate::Fault;
use crate::measuring::by_turns;
use crate::one_call::registry;
use std::hint::black_box;

const TOOLS: usize = 1_000;

/// How many lists one measurement takes.
const LISTS: u32 = 10_000;

const ROUNDS: usize = 10;

/// Prints what the list costs.
pub(crate) fn table() -> Result<(), Fault> {
    let registry = registry(TOOLS)?;
    let [listed] = by_turns(
        ROUNDS,
        [&|| {
            for _ in 0..LISTS {
                black_box(registry.direct_specs());
            }
            Ok(())
        }],
    )?;
    println!("| tool list, unchanged | tools | ns | allocations |");
    println!("|---|---|---|---|");
    let allocations = listed.spent.allocations / u64::from(LISTS);
    println!("| registry | {TOOLS} | {:.0} | {allocations} |", listed.nanoseconds(LISTS));
    Ok(())
}
