//! An allocator that counts, over the system's, for benchmarks and tests of what something costs.
//!
//! It counts once a program declares it as its own:
//!
//! ```
//! use haft_testkit::counting::{Counting, Spent};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let before = Spent::so_far();
//! drop(vec![0_u8; 100]);
//! let spent = Spent::so_far() - before;
//! assert_eq!((spent.allocations, spent.bytes, spent.live), (1, 100, 0));
//!
//! let (kept, most) = haft_testkit::counting::most_live(|| {
//!     drop(vec![0_u8; 1_000]);
//!     vec![0_u8; 100]
//! });
//! assert_eq!((kept.len(), most), (100, 1_000));
//! ```

#![expect(unsafe_code, reason = "an allocator cannot be written without; every call is handed on as it came")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Sub;
use std::sync::atomic::{AtomicI64, Ordering};

thread_local! {
    // One thread's own: atomic counters would cost more than many of the allocations that they count.
    static SPENT: Cell<Spent> = const { Cell::new(Spent { allocations: 0, bytes: 0, live: 0 }) };
    // The most that was live.
    static MOST: Cell<i64> = const { Cell::new(0) };
}

/// Counts what each thread asks of the system's allocator.
///
/// ```
/// use haft_testkit::counting::{Counting, Spent};
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting;
///
/// let before = Spent::so_far();
/// let word = String::from("haft");
/// let spent = Spent::so_far() - before;
/// assert_eq!((spent.allocations, spent.bytes, spent.live), (1, 4, 4));
/// # drop(word);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

/// What a thread has asked for so far, or between two readings.
///
/// ```
/// use haft_testkit::counting::{Counting, Spent};
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting;
///
/// let before = Spent::so_far();
/// drop(vec![0_u8; 1_000]);
/// assert_eq!(Spent::so_far() - before, Spent { allocations: 1, bytes: 1_000, live: 0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Allocations, and reallocations as one each.
    pub allocations: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes asked for and not given back; below zero where another thread has asked for them.
    pub live: i64,
}

impl Spent {
    /// Reads the counters of this thread; all are 0 unless [`Counting`] is the global allocator.
    pub fn so_far() -> Self {
        SPENT.get()
    }
}

/// Does some work on this thread, and tells the most bytes beyond those before it that were held at once.
///
/// While an allocation is moved to a larger one, both count. What other threads ask for does not.
///
/// ```
/// use haft_testkit::counting::{Counting, most_live};
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting;
///
/// let (length, most) = most_live(|| vec![0_u8; 1_000].len());
/// assert_eq!((length, most), (1_000, 1_000));
/// ```
pub fn most_live<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = SPENT.get().live;
    MOST.set(before);
    let done = work();
    (done, MOST.get() - before)
}

/// Counts what all threads together hold of the system's allocator; slower than [`Counting`] where several allocate at once.
///
/// ```
/// use haft_testkit::counting::CountingAll;
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAll = CountingAll::new();
///
/// let (_, most) = ALLOCATOR.most_live(|| std::thread::spawn(|| drop(vec![0_u8; 1_000_000])).join());
/// assert!(most >= 1_000_000);
/// ```
#[derive(Debug, Default)]
pub struct CountingAll {
    live: AtomicI64,
    most: AtomicI64,
}

impl CountingAll {
    /// Makes an allocator that has counted nothing.
    pub const fn new() -> Self {
        Self { live: AtomicI64::new(0), most: AtomicI64::new(0) }
    }

    /// Does some work, and tells the most bytes beyond those before it that were held at once, by whatever thread.
    pub fn most_live<T>(&self, work: impl FnOnce() -> T) -> (T, i64) {
        let before = self.live.load(Ordering::Relaxed);
        self.most.store(before, Ordering::Relaxed);
        let done = work();
        (done, self.most.load(Ordering::Relaxed) - before)
    }

    fn take(&self, bytes: usize) {
        let taken = i64::try_from(bytes).unwrap_or(i64::MAX);
        let live = self.live.fetch_add(taken, Ordering::Relaxed).wrapping_add(taken);
        self.most.fetch_max(live, Ordering::Relaxed);
    }

    fn give_back(&self, bytes: usize) {
        self.live.fetch_sub(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}

// SAFETY: every method hands its arguments on to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAll {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.take(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.take(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.give_back(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.take(size);
        self.give_back(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

impl Sub for Spent {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            allocations: self.allocations - before.allocations,
            bytes: self.bytes - before.bytes,
            live: self.live - before.live,
        }
    }
}

fn count(asked: usize, given_back: usize) {
    // A thread that ends may allocate when its counters are gone.
    let _ = SPENT.try_with(|spent| {
        let Spent { allocations, bytes, live } = spent.get();
        let held = live.wrapping_add_unsigned(asked as u64);
        let _ = MOST.try_with(|most| most.set(most.get().max(held)));
        spent.set(Spent {
            allocations: allocations + u64::from(asked > 0),
            bytes: bytes + asked as u64,
            live: held.wrapping_sub_unsigned(given_back as u64),
        });
    });
}

// SAFETY: every method hands its arguments on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
