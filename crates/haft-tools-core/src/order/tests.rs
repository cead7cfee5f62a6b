use super::*;
use crate::{Access, Resource, Scheme};
use futures_util::FutureExt as _;
use proptest::prelude::*;
use proptest::sample::select;

const FILE: Scheme = Scheme::new("file");
const NET: Scheme = Scheme::new("net");

fn write(path: &str) -> Accesses {
    Access::write(Resource::exact(FILE, path)).into()
}

fn read(path: &str) -> Accesses {
    Access::read(Resource::exact(FILE, path)).into()
}

fn read_tree(path: &str) -> Accesses {
    Access::read(Resource::subtree(FILE, path)).into()
}

/// Tells whether the call may run now.
fn runs(ticket: &mut Ticket) -> bool {
    ticket.granted().now_or_never().is_some()
}

#[test]
fn calls_that_touch_nothing_take_no_place() {
    assert!(AccessOrder::default().enter(&Accesses::none()).is_none());
}

#[test]
fn writers_of_one_file_run_in_order_and_readers_overlap() {
    let order = AccessOrder::default();
    let enter = |accesses: Accesses| order.enter(&accesses).unwrap();
    let mut first = enter(write("a"));
    let mut readers = [enter(read("a")), enter(read("a"))];
    let mut last = enter(write("a"));
    let mut other = enter(write("b"));
    assert!(runs(&mut first) && runs(&mut other));
    assert!(readers.iter_mut().all(|reader| !runs(reader)));
    drop(first);
    assert!(readers.iter_mut().all(runs));
    assert!(!runs(&mut last));
    drop(readers);
    assert!(runs(&mut last));
}

#[test]
fn a_call_that_gives_up_does_not_let_those_behind_it_pass() {
    let order = AccessOrder::default();
    let first = order.enter(&write("a")).unwrap();
    let second = order.enter(&write("a")).unwrap();
    let mut third = order.enter(&write("a")).unwrap();
    drop(second);
    assert!(!runs(&mut third));
    drop(first);
    assert!(runs(&mut third));
}

#[test]
fn a_call_made_by_another_passes_those_that_queue_behind_its_caller() {
    let order = AccessOrder::default();
    let mut caller = order.enter(&write("a")).unwrap();
    let mut behind = order.enter(&write("a")).unwrap();
    let mut reader = order.enter(&read("b")).unwrap();
    let mut made = order.enter_beside(caller.place(), &write("a")).unwrap();
    assert!(runs(&mut caller) && runs(&mut made) && !runs(&mut behind));
    let mut blocked = order.enter_beside(made.place(), &write("b")).unwrap();
    assert!(runs(&mut reader) && !runs(&mut blocked));
    let mut new = order.enter(&read("b")).unwrap();
    assert!(!runs(&mut new), "what entered late stands in the way of what comes after");
    drop(reader);
    assert!(runs(&mut blocked));
    drop(blocked);
    assert!(runs(&mut new));
    drop((made, caller));
    assert!(runs(&mut behind));
}

#[test]
fn two_callers_that_would_wait_for_each_other_do_not() {
    let order = AccessOrder::default();
    let one = order.enter(&write("a")).unwrap();
    let other = order.enter(&write("b")).unwrap();
    let mut by_one = order.enter_beside(one.place(), &write("b")).unwrap();
    let mut by_other = order.enter_beside(other.place(), &write("a")).unwrap();
    assert!(!runs(&mut by_one));
    assert!(runs(&mut by_other), "waiting here would close a circle");
    drop((by_other, other));
    assert!(runs(&mut by_one));
}

#[test]
fn a_call_does_not_wait_for_a_late_one_that_waits_for_it_through_others() {
    let order = AccessOrder::default();
    let early = order.enter(&write("early")).unwrap();
    let first = order.enter(&write("a")).unwrap();
    let mut second = order.enter(&write("a")).unwrap();
    let after = order.enter(&write("after")).unwrap();
    let mut by_after = order.enter_beside(after.place(), &read("a")).unwrap();
    let mut by_early = order.enter_beside(early.place(), &Access::opaque("").into()).unwrap();
    drop(first);
    assert!(runs(&mut second) && !runs(&mut by_after) && !runs(&mut by_early));
    drop(second);
    assert!(runs(&mut by_after) && !runs(&mut by_early));
    drop((by_after, after));
    assert!(runs(&mut by_early));
}

#[test]
fn a_late_call_keeps_its_place_when_its_caller_is_gone() {
    let order = AccessOrder::default();
    let caller = order.enter(&write("a")).unwrap();
    let besides = order.enter_beside(caller.place(), &write("b")).unwrap();
    let other = order.enter(&write("y")).unwrap();
    let both: Accesses = read("y").iter().chain(&write("x")).cloned().collect();
    let mut behind = order.enter(&both).unwrap();
    let made_place = besides.place();
    let late = order.enter_beside(made_place, &write("z")).unwrap();
    let mut made = order.enter_beside(late.place(), &write("x")).unwrap();
    assert!(runs(&mut made) && !runs(&mut behind));
    drop((late, besides, caller, other));
    assert!(!runs(&mut behind), "what was made in an earlier place still runs");
    drop(made);
    assert!(runs(&mut behind));
}

#[test]
fn ten_thousand_calls_of_each_kind_queue_in_linear_space() {
    let mixes: [fn(usize) -> Accesses; 5] = [
        |_| Access::opaque("a script").into(),
        |_| write("a"),
        |number| write(&format!("d{}/f{number}", number % 7)),
        |number| if number % 2 == 0 { read_tree("") } else { write(&format!("f{number}")) },
        |number| if number < 5_000 { write(&format!("f{number}")) } else { read_tree("") },
    ];
    for mix in mixes {
        let order = AccessOrder::default();
        let mut tickets: Vec<Ticket> = (0..10_000).map(|number| order.enter(&mix(number)).unwrap()).collect();
        let waits = order.lock().graph.waits();
        assert!(waits <= 60_000, "{waits} waits for 10,000 calls");
        tickets.reverse();
        while let Some(mut ticket) = tickets.pop() {
            assert!(runs(&mut ticket), "the first of those left always runs");
        }
        assert!(order.lock().graph.is_empty() && order.lock().frontier.is_empty());
    }
}

#[test]
fn calls_within_one_place_keep_their_order_whatever_they_name() {
    let server = || Resource::exact(NET, "s");
    let change = |name: &str| Accesses::from(Access::call(Resource::exact(NET, name)).ordered_in(&server()));
    let look = |name: &str| {
        Accesses::from(Access::call(Resource::exact(NET, name)).ordered_in(&server()).unordered())
    };
    let order = AccessOrder::default();
    let enter = |accesses: Accesses| order.enter(&accesses).unwrap();
    let mut looks = [enter(look("s/a")), enter(look("s/b"))];
    let mut changes = [enter(change("s/a")), enter(change("s/c"))];
    let mut last = enter(look("s/b"));
    let mut elsewhere = enter(Access::call(Resource::exact(NET, "t/a")).into());
    assert!(looks.iter_mut().all(runs) && runs(&mut elsewhere));
    assert!(!runs(&mut changes[0]) && !runs(&mut last));
    drop(looks);
    let [mut first, mut second] = changes;
    assert!(runs(&mut first) && !runs(&mut second));
    drop(first);
    assert!(runs(&mut second) && !runs(&mut last));
    drop(second);
    assert!(runs(&mut last));
}

fn arbitrary_access() -> impl Strategy<Value = Access> {
    let path = select(vec!["", "a", "b", "a/x", "a/y", "a/x/1", "ab", "a-b"]);
    let resource = (path, any::<bool>(), any::<bool>()).prop_map(|(path, subtree, file)| {
        let scheme = if file { FILE } else { NET };
        if subtree { Resource::subtree(scheme, path) } else { Resource::exact(scheme, path) }
    });
    prop_oneof![
        8 => resource.clone().prop_map(Access::read),
        6 => resource.clone().prop_map(Access::write),
        2 => (resource, any::<bool>()).prop_map(|(resource, shared)| {
            let place = resource.path().split('/').next().unwrap_or_default().to_owned();
            let place = Resource::exact(resource.scheme().clone(), place);
            let access = Access::call(resource).ordered_in(&place);
            if shared { access.unordered() } else { access }
        }),
        1 => Just(Access::opaque("")),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Enter(Vec<Access>),
    Make(prop::sample::Index, Vec<Access>),
    Leave(prop::sample::Index),
    GiveUp(prop::sample::Index),
}

fn arbitrary_steps() -> impl Strategy<Value = Vec<Step>> {
    let accesses = || prop::collection::vec(arbitrary_access(), 1..4);
    let step = prop_oneof![
        6 => accesses().prop_map(Step::Enter),
        1 => (any::<prop::sample::Index>(), accesses()).prop_map(|(caller, accesses)| Step::Make(caller, accesses)),
        4 => any::<prop::sample::Index>().prop_map(Step::Leave),
        1 => any::<prop::sample::Index>().prop_map(Step::GiveUp),
    ];
    prop::collection::vec(step, 1..60)
}

struct Entered {
    ticket: Ticket,
    accesses: Accesses,
    made: bool,
    caller: Option<NodeId>,
}

proptest! {
    /// Whatever enters, leaves and gives up: calls that conflict never run at once, a call runs as soon as no earlier one
    /// that it conflicts with is left, and in the end everything has run.
    #[test]
    fn keeps_conflicting_calls_apart_and_never_gets_stuck(steps in arbitrary_steps()) {
        let order = AccessOrder::default();
        let mut calls: Vec<Entered> = Vec::new();
        let mut gave_up = false;
        for step in steps {
            match step {
                Step::Enter(accesses) => {
                    let accesses: Accesses = accesses.into_iter().collect();
                    let ticket = order.enter(&accesses).unwrap();
                    calls.push(Entered { ticket, accesses, made: false, caller: None });
                }
                Step::Make(caller, accesses) if !calls.is_empty() => {
                    let caller = caller.index(calls.len());
                    if !runs(&mut calls[caller].ticket) {
                        continue;
                    }
                    let accesses: Accesses = accesses.into_iter().collect();
                    let ticket = order.enter_beside(calls[caller].ticket.place(), &accesses).unwrap();
                    let caller = Some(calls[caller].ticket.node);
                    calls.push(Entered { ticket, accesses, made: true, caller });
                }
                Step::Leave(which) if !calls.is_empty() => {
                    let which = which.index(calls.len());
                    let node = calls[which].ticket.node;
                    // A caller does not end before the calls it made.
                    if runs(&mut calls[which].ticket) && calls.iter().all(|call| call.caller != Some(node)) {
                        calls.remove(which);
                    }
                }
                Step::GiveUp(which) if !calls.is_empty() => {
                    let which = which.index(calls.len());
                    if !runs(&mut calls[which].ticket) {
                        gave_up = true;
                        calls.remove(which);
                    }
                }
                _ => {}
            }
            check_apart(&order, &mut calls, gave_up)?;
        }
        while !calls.is_empty() {
            let free = (0..calls.len()).find(|which| {
                let node = calls[*which].ticket.node;
                calls.iter().all(|call| call.caller != Some(node)) && runs(&mut calls[*which].ticket)
            });
            prop_assert!(free.is_some(), "{} calls are stuck", calls.len());
            calls.remove(free.unwrap());
        }
        prop_assert!(order.lock().graph.is_empty() && order.lock().frontier.is_empty());
    }
}

fn check_apart(order: &AccessOrder, calls: &mut [Entered], gave_up: bool) -> Result<(), TestCaseError> {
    let running: Vec<bool> = calls.iter_mut().map(|call| runs(&mut call.ticket)).collect();
    let any_made = calls.iter().any(|call| call.made);
    for later in 0..calls.len() {
        let conflicts = |earlier: usize| calls[earlier].accesses.conflict_with(&calls[later].accesses);
        for earlier in (0..later).filter(|earlier| conflicts(*earlier)) {
            if calls[later].made {
                continue;
            }
            let related = order.lock().is_ancestor(calls[earlier].ticket.node, calls[later].ticket.node);
            prop_assert!(related || !running[later], "{later} runs although {earlier} is not done");
        }
        if !any_made && !gave_up && (0..later).all(|earlier| !conflicts(earlier)) {
            prop_assert!(running[later], "{later} waits for nothing");
        }
    }
    Ok(())
}
