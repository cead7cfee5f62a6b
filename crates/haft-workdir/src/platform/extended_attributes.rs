//! Extended attributes, where the system has them.

use std::os::fd::BorrowedFd;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

/// The access control list of a file, which a directory may give to new files as well.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// What people and programs attach to files.
const OF_USERS: &[u8] = b"user.";

/// Privileges of a program and signatures of a content, which new content must not inherit.
const NOT_KEPT: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

/// How many times a list or value is asked for that grows while it is read.
const ATTEMPTS: usize = 8;

/// Gives the extended attributes of one open file to another.
///
/// Access control lists and those of users are kept or it is an error; others, such as the labels of a security module,
/// as far as the process may set them.
pub(crate) fn keep_extended_attributes(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> Result<(), Errno> {
    let names = match whole(|buffer| flistxattr(from, buffer)) {
        Ok(names) => names,
        // The file system has none.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    let names = || names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    if names().all(|name| name != ACCESS_LIST) {
        // What the directory gave it; that there is none is the common case.
        let _ = fremovexattr(to, ACCESS_LIST);
    }
    for name in names().filter(|name| !NOT_KEPT.contains(name)) {
        // It may be gone by now, or not for everyone to read.
        let Ok(value) = whole(|buffer| fgetxattr(from, name, buffer)) else { continue };
        match fsetxattr(to, name, &value, XattrFlags::empty()) {
            Err(errno) if name == ACCESS_LIST || name.starts_with(OF_USERS) => return Err(errno),
            _ => {}
        }
    }
    Ok(())
}

/// Reads something whose size is told when it is read into nothing.
fn whole(mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 256];
    for _ in 0..ATTEMPTS {
        match read(&mut buffer) {
            Ok(size) => {
                buffer.truncate(size);
                return Ok(buffer);
            }
            Err(Errno::RANGE) => buffer.resize(buffer.len() * 4, 0),
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::RANGE)
}
