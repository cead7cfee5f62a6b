use super::stepping::{self, Course};
use super::*;
use futures_util::FutureExt as _;
use std::pin::pin;
use tokio::runtime::Builder;

/// Sees that all room is there when nobody has any, and can be had.
fn check_whole(pool: &Arc<Pool>, width: usize) {
    let Pool { free, waiting, queue } = &**pool;
    assert_eq!((free.load(SeqCst) + queue.available_permits(), waiting.load(SeqCst)), (width, 0));
    let taken: Vec<_> = (0..=width).map(|_| pool.take_now()).collect();
    assert_eq!(taken.iter().flatten().count(), width);
}

#[test]
fn room_is_for_so_many_and_for_one_at_least() {
    for (width, room) in [(0, 1), (1, 1), (3, 3)] {
        let pool = Arc::new(Pool::new(width));
        let held: Vec<_> = (0..room).map(|_| pool.take_now().unwrap()).collect();
        assert!(pool.take_now().is_none());
        drop(held);
        check_whole(&pool, room);
    }
}

#[test]
fn who_waits_goes_before_who_comes_later() {
    let pool = Arc::new(Pool::new(1));
    let held = pool.take_now();
    {
        let (mut first, mut second) = (pin!(pool.take()), pin!(pool.take()));
        assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
        drop(held);
        assert!(pool.take_now().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        let taken = first.now_or_never().unwrap();
        assert!(second.as_mut().now_or_never().is_none());
        drop(taken);
        assert!(second.now_or_never().unwrap().is_some());
    }
    check_whole(&pool, 1);
}

#[test]
fn who_gives_up_waiting_leaves_the_room_to_others() {
    let pool = Arc::new(Pool::new(1));
    let held = pool.take_now();
    let mut first = Box::pin(pool.take());
    let mut second = Box::pin(pool.take());
    assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
    drop(held);
    drop(first);
    assert!(second.as_mut().now_or_never().unwrap().is_some());
    drop(second);
    let held = pool.take_now();
    let mut last = Box::pin(pool.take());
    assert!(last.as_mut().now_or_never().is_none());
    drop(held);
    drop(last);
    check_whole(&pool, 1);
}

#[test]
fn many_threads_neither_lose_room_nor_take_more_than_there_is() {
    const WIDTH: usize = 3;
    let pool = Arc::new(Pool::new(WIDTH));
    let inside = Arc::new(AtomicUsize::new(0));
    let runtime = Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let (pool, inside) = (Arc::clone(&pool), Arc::clone(&inside));
            runtime.spawn(async move {
                for turn in 0..4_000 {
                    let permit = match (task + turn) % 4 {
                        0 => pool.take().await,
                        1 => pool.take().now_or_never().flatten(),
                        _ => pool.take_now(),
                    };
                    if permit.is_some() {
                        assert!(inside.fetch_add(1, SeqCst) < WIDTH);
                        if turn % 16 == 0 {
                            tokio::task::yield_now().await;
                        }
                        inside.fetch_sub(1, SeqCst);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    check_whole(&pool, WIDTH);
}

/// What a thread does with a pool.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// Waits for room, and gives it back.
    Take,
    /// Takes room if there is some, and gives it back.
    TakeNow,
    /// Begins to wait for room, and gives up if there is none.
    GiveUp,
    /// Gives back what it had from the start.
    GiveBack,
}

/// Has threads do these things in every order of their steps with at most so many preemptions, and sees that no more have room than
/// there is, that none waits for ever, and that no room is lost. Tells how many orders there were.
fn explore(width: usize, preemptions: usize, all: &[Does]) -> usize {
    stepping::explore(preemptions, || {
        let pool = Arc::new(Pool::new(width));
        let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let courses = all.iter().map(|does| -> Course {
            let (does, pool, inside) = (*does, Arc::clone(&pool), Arc::clone(&inside));
            let held =
                matches!(does, Does::GiveBack).then(|| pool.take_now().expect("there is room at the start"));
            inside.fetch_add(usize::from(held.is_some()), SeqCst);
            Box::new(move || {
                let permit = match does {
                    Does::Take => stepping::wait_for(pool.take()),
                    Does::TakeNow => pool.take_now(),
                    Does::GiveUp => pool.take().now_or_never().flatten(),
                    Does::GiveBack => held,
                };
                if permit.is_some() {
                    if !matches!(does, Does::GiveBack) {
                        assert!(inside.fetch_add(1, SeqCst) < width, "more have room than there is");
                    }
                    stepping::step();
                    inside.fetch_sub(1, SeqCst);
                }
            })
        });
        let courses = courses.collect();
        let whole = Box::new(move || check_whole(&pool, width));
        (courses, whole)
    })
}

#[test]
fn in_every_order_of_their_steps_threads_get_room_and_lose_none() {
    use Does::{GiveBack, GiveUp, Take, TakeNow};
    let all: [(usize, usize, &[Does]); 13] = [
        (1, 3, &[GiveBack, Take]),
        (1, 3, &[GiveBack, GiveUp]),
        (1, 3, &[Take, Take]),
        (1, 3, &[Take, GiveUp]),
        (1, 3, &[Take, TakeNow]),
        (1, 3, &[GiveUp, TakeNow]),
        (1, 2, &[Take, Take, GiveUp]),
        (1, 2, &[GiveBack, Take, GiveUp]),
        (1, 1, &[GiveBack, Take, Take]),
        (1, 1, &[GiveBack, Take, TakeNow]),
        (1, 1, &[GiveBack, GiveUp, TakeNow]),
        (2, 1, &[GiveBack, GiveBack, Take]),
        (2, 1, &[Take, Take, Take]),
    ];
    for (width, preemptions, does) in all {
        let orders = explore(width, preemptions, does);
        assert!(orders > 20, "{does:?} has {orders} orders only");
    }
}
