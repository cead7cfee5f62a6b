//! What the system says of a process.

use std::collections::BTreeMap;
use std::fs;

/// How large a process is, and what runs below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Size {
    /// What of its memory is resident.
    pub(super) kilobytes: u64,
    /// How many descriptors it has open, by what they are of.
    pub(super) descriptors: BTreeMap<String, usize>,
    pub(super) threads: usize,
    /// The names of the processes that it has started, and of those that they have.
    pub(super) below: Vec<String>,
}

impl Size {
    pub(super) fn open(&self) -> usize {
        self.descriptors.values().sum()
    }
}

/// Measures a process that runs.
pub(super) fn size(pid: u32) -> Size {
    let mut descriptors = BTreeMap::new();
    for descriptor in fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten() {
        // One that was closed meanwhile leads nowhere.
        if let Ok(of) = fs::read_link(descriptor.path()) {
            let of = of.to_string_lossy();
            *descriptors.entry(of.split(":[").next().unwrap_or(&of).to_owned()).or_default() += 1;
        }
    }
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    Size {
        kilobytes: resident.trim().trim_end_matches(" kB").parse().unwrap(),
        descriptors,
        threads: fs::read_dir(format!("/proc/{pid}/task")).unwrap().count(),
        below: below(pid),
    }
}

fn below(pid: u32) -> Vec<String> {
    let processes: Vec<(u32, u32, String)> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            // Of one that has ended meanwhile there is nothing to read.
            let told = fs::read_to_string(entry.path().join("stat")).ok()?;
            let (name, rest) = told.split_once('(')?.1.rsplit_once(") ")?;
            Some((pid, rest.split(' ').nth(1)?.parse().ok()?, name.to_owned()))
        })
        .collect();
    let (mut known, mut names) = (vec![pid], Vec::new());
    let mut at = 0;
    while let Some(parent) = known.get(at).copied() {
        for (pid, _, name) in processes.iter().filter(|(_, of, _)| *of == parent) {
            known.push(*pid);
            names.push(name.clone());
        }
        at += 1;
    }
    names
}

/// Tells whether a process runs whose arguments hold a text.
pub(super) fn is_there(text: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).contains(text)
    })
}

/// Tells whether a process has a name.
pub(super) fn is_named(pid: &str, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|told| told.trim_end() == name)
}
