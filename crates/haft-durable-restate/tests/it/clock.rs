//! Processes whose wall clock is ahead of the machine's.
//!
//! The kernel maps into each process the code that reads clocks, see `vdso(7)`, and a process reads its wall clock by
//! calling it. In one process that code is written over by some that asks the kernel itself and adds so much to what it says.
//! No library that is preloaded could do that, as the server is linked statically. Clocks that only count on are as they
//! were: they tell nothing of a day, and processes that begin later have others anyway.

use object::{File, Object as _, ObjectSymbol as _};
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// Whether a clock can be moved here; the code that is written is for these machines only.
pub(crate) const fn is_movable() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

/// Moves the wall clock of a process forward, whether it is this one or a child that has just begun.
pub(crate) fn advance(process: u32, by: Duration) {
    if by.is_zero() {
        return;
    }
    assert!(is_movable(), "the wall clock of a process can be moved on Linux on x86-64 only");
    if process == std::process::id() {
        let before = SystemTime::now();
        write(process, by);
        assert!(before.elapsed().unwrap() >= by, "the clock of this process is where it was");
        return;
    }
    // Nothing may run the code while it is written.
    tell(process, "-STOP");
    let start = Instant::now();
    while !is_stopped(process) {
        assert!(start.elapsed() < crate::engine::PATIENCE, "the process {process} does not stop");
        std::thread::yield_now();
    }
    write(process, by);
    tell(process, "-CONT");
}

fn tell(process: u32, signal: &str) {
    let told = Command::new("kill").args([signal, &process.to_string()]).status().unwrap();
    assert!(told.success(), "the process {process} cannot be told {signal}");
}

/// Whether none of its threads runs.
fn is_stopped(process: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    threads.into_iter().all(|thread| {
        // One that ends meanwhile has run.
        let status = fs::read_to_string(thread.unwrap().path().join("stat")).unwrap_or_default();
        status.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T'))
    })
}

fn write(process: u32, by: Duration) {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let range = maps.lines().find(|line| line.ends_with("[vdso]")).and_then(|line| line.split(' ').next());
    let (start, end) = range.and_then(|range| range.split_once('-')).unwrap();
    let [start, end] = [start, end].map(|address| u64::from_str_radix(address, 16).unwrap());
    let mut memory = fs::File::options().read(true).write(true).open(format!("/proc/{process}/mem")).unwrap();
    let mut image = vec![0; usize::try_from(end - start).unwrap()];
    memory.seek(SeekFrom::Start(start)).unwrap();
    memory.read_exact(&mut image).unwrap();
    let image = File::parse(&*image).unwrap();
    let mut symbols = image.dynamic_symbols();
    let reads = symbols.find(|symbol| symbol.name() == Ok("__vdso_clock_gettime")).unwrap();
    let code = code(by);
    assert!(reads.size() >= code.len() as u64, "there is no room for {} bytes of code", code.len());
    memory.seek(SeekFrom::Start(start + reads.address())).unwrap();
    memory.write_all(&code).unwrap();
}

/// Is `clock_gettime(edi, rsi)` with the wall clock so many seconds ahead.
fn code(by: Duration) -> Vec<u8> {
    let mut code = vec![
        0xb8, 0xe4, 0, 0, 0, // mov eax, SYS_clock_gettime
        0x0f, 0x05, // syscall
        0x85, 0xc0, // test eax, eax
        0x75, 0x16, // jne to the end
        0x85, 0xff, // test edi, edi: CLOCK_REALTIME is 0
        0x74, 0x05, // je to the addition
        0x83, 0xff, 0x05, // cmp edi, CLOCK_REALTIME_COARSE
        0x75, 0x0d, // jne to the end
        0x48, 0xb9, // mov rcx, the seconds that follow
    ];
    code.extend(by.as_secs().to_le_bytes());
    code.extend([
        0x48, 0x01, 0x0e, // add [rsi], rcx
        0xc3, // ret
    ]);
    code
}
