//! Runs threads step by step, in every order of their steps with at most so many preemptions.
//!
//! A step is an operation on what threads share: each of those here waits for its turn before it is done, and one thread has the
//! turn at a time. So an order of turns is one course of what happens, and can be had again. What is found this way is what can
//! happen where all operations have one order, as those with `SeqCst` do.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize as Shared, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use tokio::sync::{AcquireError, Semaphore as Queue, SemaphorePermit, TryAcquireError};

/// What one thread does.
pub(super) type Course = Box<dyn FnOnce() + Send>;

/// Counts as the type of the same name does, a step at a time.
#[derive(Debug)]
pub(super) struct AtomicUsize(Shared);

impl AtomicUsize {
    pub(super) fn new(value: usize) -> Self {
        Self(Shared::new(value))
    }

    pub(super) fn load(&self, order: Ordering) -> usize {
        step();
        self.0.load(order)
    }

    pub(super) fn swap(&self, value: usize, order: Ordering) -> usize {
        step();
        self.0.swap(value, order)
    }

    pub(super) fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        step();
        self.0.fetch_add(value, order)
    }

    pub(super) fn fetch_sub(&self, value: usize, order: Ordering) -> usize {
        step();
        self.0.fetch_sub(value, order)
    }

    pub(super) fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        next: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize> {
        step();
        self.0.fetch_update(set, fetch, next)
    }
}

/// Hands out permits as the type of the same name does, a step at a time.
#[derive(Debug)]
pub(super) struct Semaphore(Queue);

impl Semaphore {
    pub(super) const MAX_PERMITS: usize = Queue::MAX_PERMITS;

    pub(super) fn new(permits: usize) -> Self {
        Self(Queue::new(permits))
    }

    pub(super) fn available_permits(&self) -> usize {
        self.0.available_permits()
    }

    pub(super) fn add_permits(&self, permits: usize) {
        step();
        self.0.add_permits(permits);
    }

    pub(super) fn forget_permits(&self, permits: usize) -> usize {
        step();
        self.0.forget_permits(permits)
    }

    pub(super) fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        step();
        self.0.try_acquire()
    }

    pub(super) async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        step();
        self.0.acquire().await
    }
}

thread_local! {
    /// Which thread of which run this one is; it takes its steps at once where it is none.
    static ROLE: RefCell<Option<(Arc<Stage>, usize)>> = const { RefCell::new(None) };
}

/// Waits until it is this thread's turn to do something that others can see.
pub(super) fn step() {
    let role = ROLE.with_borrow(Clone::clone);
    if let Some((stage, thread)) = role {
        stage.pass(thread, Next::Ready);
    }
}

/// Waits for a future; meanwhile others have their turns.
pub(super) fn wait_for<T>(future: impl Future<Output = T>) -> T {
    let (stage, thread) = ROLE.with_borrow(Clone::clone).expect("it is one of the threads that are run");
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        stage.pass(thread, Next::Woken(Arc::clone(&woken)));
        woken.0.store(false, Ordering::SeqCst);
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// When a thread can go on.
enum Next {
    Ready,
    Woken(Arc<Woken>),
    Never,
}

impl Next {
    fn is_due(&self) -> bool {
        match self {
            Self::Ready => true,
            Self::Woken(woken) => woken.0.load(Ordering::SeqCst),
            Self::Never => false,
        }
    }
}

/// Whose turn it is.
struct Stage {
    state: Mutex<State>,
    /// Of each thread, by which it is told that it has the turn.
    told: Vec<Condvar>,
}

struct State {
    threads: Vec<Next>,
    /// Who has the turn; nobody once all have ended, or none can go on.
    turn: Option<usize>,
    /// Whom to give the turn, as far as that was chosen before.
    chosen: Vec<usize>,
    choices: Vec<Choice>,
    /// Whether some wait for what nobody will do.
    is_stuck: bool,
}

/// One decision: who could have been given the turn, who was, and who had it before, if that one could have gone on.
struct Choice {
    due: BTreeSet<usize>,
    taken: usize,
    before: Option<usize>,
}

impl Choice {
    /// Counts one where the turn was taken from somebody.
    fn preempts(&self, taken: usize) -> usize {
        usize::from(self.before.is_some_and(|before| before != taken))
    }
}

impl Stage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the turn to whom it is for, and waits until it comes again; one that never goes on does not wait.
    fn pass(&self, thread: usize, next: Next) {
        let ends = matches!(next, Next::Never);
        let mut state = self.state();
        state.threads[thread] = next;
        self.choose(&mut state, Some(thread));
        if !ends {
            self.wait_for_turn(state, thread);
        }
    }

    fn choose(&self, state: &mut State, before: Option<usize>) {
        state.choose(before);
        match state.turn {
            Some(thread) => self.told[thread].notify_one(),
            None => self.told.iter().for_each(Condvar::notify_one),
        }
    }

    fn wait_for_turn(&self, mut state: MutexGuard<'_, State>, thread: usize) {
        while state.turn != Some(thread) {
            assert!(!state.is_stuck, "some wait for what nobody will do");
            state = self.told[thread].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    fn choose(&mut self, before: Option<usize>) {
        let due: BTreeSet<usize> = (0..self.threads.len()).filter(|at| self.threads[*at].is_due()).collect();
        let before = before.filter(|before| due.contains(before));
        let planned = self.chosen.get(self.choices.len()).copied();
        self.turn = planned.or(before).or_else(|| due.first().copied());
        match self.turn {
            Some(taken) => self.choices.push(Choice { due, taken, before }),
            None => self.is_stuck = self.threads.iter().any(|next| !matches!(next, Next::Never)),
        }
    }
}

/// Runs what is made anew for each order, and then its check; tells how many orders there were.
pub(super) fn explore(preemptions: usize, make: impl Fn() -> (Vec<Course>, Box<dyn FnOnce()>)) -> usize {
    let mut orders = 0;
    let mut chosen = Some(Vec::new());
    while let Some(order) = chosen {
        let (courses, check) = make();
        let choices = run(courses, order);
        check();
        orders += 1;
        chosen = following(&choices, preemptions);
    }
    orders
}

/// Runs threads in an order, and gives all that was decided on the way.
fn run(courses: Vec<Course>, chosen: Vec<usize>) -> Vec<Choice> {
    let threads = courses.iter().map(|_| Next::Ready).collect();
    let told = courses.iter().map(|_| Condvar::new()).collect();
    let beginning = State { threads, turn: None, chosen, choices: Vec::new(), is_stuck: false };
    let stage = Arc::new(Stage { state: Mutex::new(beginning), told });
    thread::scope(|scope| {
        for (thread, course) in courses.into_iter().enumerate() {
            let stage = Arc::clone(&stage);
            scope.spawn(move || {
                ROLE.set(Some((Arc::clone(&stage), thread)));
                let ended = catch_unwind(AssertUnwindSafe(|| {
                    stage.wait_for_turn(stage.state(), thread);
                    course();
                }));
                stage.pass(thread, Next::Never);
                ended.unwrap_or_else(|panic| resume_unwind(panic));
            });
        }
        stage.choose(&mut stage.state(), None);
    });
    std::mem::take(&mut stage.state().choices)
}

/// Finds the order that comes next: the last decision that can be made otherwise is, and what follows is left open.
fn following(choices: &[Choice], preemptions: usize) -> Option<Vec<usize>> {
    let spent: Vec<usize> = choices
        .iter()
        .scan(0, |spent, choice| {
            let before = *spent;
            *spent += choice.preempts(choice.taken);
            Some(before)
        })
        .collect();
    (0..choices.len()).rev().find_map(|at| {
        let choice = &choices[at];
        // Whom it is given to without a choice comes first, and then the others by their numbers.
        let first = choice.before.or_else(|| choice.due.first().copied());
        let mut order =
            first.into_iter().chain(choice.due.iter().copied().filter(|thread| Some(*thread) != first));
        order.find(|thread| *thread == choice.taken)?;
        let other = order.find(|thread| spent[at] + choice.preempts(*thread) <= preemptions)?;
        Some(choices[..at].iter().map(|choice| choice.taken).chain([other]).collect())
    })
}
