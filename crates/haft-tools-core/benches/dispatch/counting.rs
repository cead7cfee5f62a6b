//! An allocator that counts, over the system's.

#![expect(unsafe_code, reason = "an allocator cannot be written without; every call is handed on as it came")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::Sub;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Counts what is asked of the system's allocator.
pub(crate) struct Counting;

/// What was asked for, in all threads.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    /// Allocations, and reallocations as one each.
    pub(crate) allocations: u64,
    /// Bytes asked for.
    pub(crate) bytes: u64,
}

impl Spent {
    /// Reads the counters.
    pub(crate) fn so_far() -> Self {
        Self { allocations: ALLOCATIONS.load(Relaxed), bytes: BYTES.load(Relaxed) }
    }
}

impl Sub for Spent {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { allocations: self.allocations - before.allocations, bytes: self.bytes - before.bytes }
    }
}

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
}

// SAFETY: every method hands its arguments on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
