use super::appending::{Appending, Tail};
use super::line::line;
use super::{JournalError, JournalReader};
use crate::{CallScope, Journal, MemoryJournal};
use haft_core::{ReplyStatus, ToolCall, ToolReply};
use proptest::prelude::*;
use serde_json::json;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

/// Is a disk on which writes break off as a test says; clones are the same disk.
#[derive(Clone, Default)]
struct Disk(Rc<RefCell<Contents>>);

#[derive(Default)]
struct Contents {
    bytes: Vec<u8>,
    /// What becomes of the next writes, in order.
    faults: VecDeque<Fault>,
    writes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// So many bytes at the end are not written, or none are.
    Short(usize),
    Full,
    Interrupted,
}

impl Disk {
    fn failing(faults: impl IntoIterator<Item = Fault>) -> Self {
        let disk = Self::default();
        disk.0.borrow_mut().faults.extend(faults);
        disk
    }

    /// Writes as another process would that is killed in the middle.
    fn tear(&self) {
        self.0.borrow_mut().bytes.extend_from_slice(b"{\"version\"");
    }

    /// Reads back which calls are recorded, and which lines are damaged.
    fn read(&self) -> (Vec<String>, Vec<u64>) {
        let (mut names, mut damaged) = (Vec::new(), Vec::new());
        for record in JournalReader::new(&*self.0.borrow().bytes) {
            match record {
                Ok(record) => names.push(record.called_as),
                Err(JournalError::Damaged { line, .. }) => damaged.push(line),
                Err(error) => panic!("{error}"),
            }
        }
        (names, damaged)
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Contents { bytes: all, faults, writes } = &mut *self.0.borrow_mut();
        *writes += 1;
        let written = match faults.pop_front().unwrap_or(Fault::None) {
            Fault::None => bytes.len(),
            Fault::Short(missing) => bytes.len().saturating_sub(missing),
            Fault::Full => return Err(io::ErrorKind::StorageFull.into()),
            Fault::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
        };
        all.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tail for Disk {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.borrow().bytes.len() as u64)
    }

    fn byte_before(&mut self, place: u64) -> io::Result<u8> {
        Ok(self.0.borrow().bytes[usize::try_from(place).unwrap() - 1])
    }
}

/// Prints the line of a record that names this call.
fn line_of(name: &str) -> Vec<u8> {
    let memory = Arc::new(MemoryJournal::new(1));
    let call = ToolCall::new("c1".parse().unwrap(), name, json!({}));
    let reply = ToolReply::new(call.id.clone(), name, ReplyStatus::Denied, "no".into());
    let scope = CallScope::new("run-1".parse().unwrap());
    Journal::new(Arc::clone(&memory) as _).call(&scope, &call).ended(&reply).unwrap();
    line(&memory.records()[0]).unwrap()
}

#[test]
fn a_record_is_one_write() {
    let disk = Disk::default();
    let mut appending = Appending::new(disk.clone()).unwrap();
    for name in ["a", "b"] {
        appending.append(&line_of(name)).unwrap();
    }
    assert_eq!(disk.read(), (vec!["a".to_owned(), "b".to_owned()], vec![]));
    let Contents { bytes, writes, .. } = &*disk.0.borrow();
    assert_eq!((*writes, bytes.split_inclusive(|byte| *byte == b'\n').count()), (2, 2));
}

#[test]
fn a_write_that_breaks_off_is_an_error_and_the_next_record_has_its_own_line() {
    let disk = Disk::failing([Fault::Short(9), Fault::Full]);
    let mut appending = Appending::new(disk.clone()).unwrap();
    let broken = appending.append(&line_of("a")).unwrap_err();
    assert_eq!(broken.kind(), io::ErrorKind::WriteZero);
    assert_eq!(appending.append(&line_of("b")).unwrap_err().kind(), io::ErrorKind::StorageFull);
    appending.append(&line_of("c")).unwrap();
    assert_eq!(disk.read(), (vec!["c".to_owned()], vec![1]));
}

#[test]
fn a_write_that_is_interrupted_is_made_again() {
    let disk = Disk::failing([Fault::Interrupted, Fault::Interrupted]);
    Appending::new(disk.clone()).unwrap().append(&line_of("a")).unwrap();
    assert_eq!(disk.read(), (vec!["a".to_owned()], vec![]));
}

#[test]
fn a_line_that_another_process_left_unfinished_is_ended() {
    let disk = Disk::default();
    let mut appending = Appending::new(disk.clone()).unwrap();
    appending.append(&line_of("a")).unwrap();
    disk.tear();
    appending.append(&line_of("b")).unwrap();
    assert_eq!(disk.read(), (vec!["a".to_owned(), "b".to_owned()], vec![2]));
}

/// What happens next to a journal.
#[derive(Debug, Clone, Copy)]
enum Step {
    Append(Fault),
    Reopen(Fault),
    Tear,
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        4 => Just(Fault::None),
        1 => (0usize..4).prop_map(Fault::Short),
        1 => (0usize..300).prop_map(Fault::Short),
        1 => Just(Fault::Full),
        1 => Just(Fault::Interrupted),
    ]
}

proptest! {
    #[test]
    fn what_was_kept_can_be_read_whatever_breaks_off_around_it(
        steps in prop::collection::vec(
            prop_oneof![8 => fault().prop_map(Step::Append), 1 => fault().prop_map(Step::Reopen), 1 => Just(Step::Tear)],
            0..30,
        ),
    ) {
        let disk = Disk::default();
        let mut appending = Appending::new(disk.clone()).unwrap();
        let (mut kept, mut refused, mut torn) = (Vec::new(), Vec::new(), 0);
        for (place, step) in steps.into_iter().enumerate() {
            disk.0.borrow_mut().faults.clear();
            match step {
                Step::Append(fault) => {
                    disk.0.borrow_mut().faults.push_back(fault);
                    let name = format!("t{place}");
                    let result = appending.append(&line_of(&name));
                    if result.is_ok() { kept.push(name) } else { refused.push(name) }
                }
                Step::Reopen(fault) => {
                    disk.0.borrow_mut().faults.push_back(fault);
                    if let Ok(again) = Appending::new(disk.clone()) {
                        appending = again;
                    }
                }
                Step::Tear => {
                    disk.tear();
                    torn += 1;
                }
            }
        }
        let (names, damaged) = disk.read();
        // A refused record of which only the newline is missing is there, too.
        let names: Vec<String> = names.into_iter().filter(|name| !refused.contains(name)).collect();
        prop_assert_eq!(names, kept);
        prop_assert!(damaged.len() <= refused.len() + torn);
    }
}
