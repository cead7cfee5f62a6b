//! Extended attributes, where the system has them.

use std::os::fd::BorrowedFd;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

use super::ExtendedAttribute;

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
    match extended_attributes(from) {
        Ok(attributes) => set_extended_attributes(to, &attributes),
        // The file system has none.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Reads the extended attributes of an open file that another content may have, each with its name.
pub(crate) fn extended_attributes(from: BorrowedFd<'_>) -> Result<Vec<ExtendedAttribute>, Errno> {
    let names = whole(|buffer| flistxattr(from, buffer))?;
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !NOT_KEPT.contains(name));
    // One may be gone by now, or not for everyone to read.
    let value = |name: &[u8]| whole(|buffer| fgetxattr(from, name, buffer)).ok();
    Ok(names.filter_map(|name| Some((name.to_vec(), value(name)?))).collect())
}

/// Gives an open file these extended attributes, with the same care.
pub(crate) fn set_extended_attributes(
    to: BorrowedFd<'_>,
    attributes: &[ExtendedAttribute],
) -> Result<(), Errno> {
    if attributes.iter().all(|(name, _)| name != ACCESS_LIST) {
        // What the directory gave it; that there is none is the common case.
        let _ = fremovexattr(to, ACCESS_LIST);
    }
    for (name, value) in attributes {
        match fsetxattr(to, name.as_slice(), value, XattrFlags::empty()) {
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
