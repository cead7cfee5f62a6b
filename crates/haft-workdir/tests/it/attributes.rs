//! What a file has besides its content.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use haft_workdir::Existing::Replace;
use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use rustix::io::Errno;

use crate::fixture::{Fixture, path};

const ACCESS_LIST: &str = "system.posix_acl_access";
const DEFAULT_LIST: &str = "system.posix_acl_default";

/// An access control list that lets the user 1234 read: version 2, then tag, permissions and number of each entry.
fn access_list() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] = [(1, 6, !0), (2, 4, 1234), (4, 4, !0), (16, 4, !0), (32, 0, !0)];
    let entries = entries.map(|(tag, permissions, number)| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &number.to_le_bytes()].concat()
    });
    [&2_u32.to_le_bytes()[..], &entries.concat()].concat()
}

fn get(file: &File, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1 << 16];
    let size = fgetxattr(file, name, value.as_mut_slice()).ok()?;
    value.truncate(size);
    Some(value)
}

/// Sets an attribute; false where the file system has none of that kind.
fn set(file: &File, name: &str, value: &[u8]) -> bool {
    match fsetxattr(file, name, value, XattrFlags::empty()) {
        Ok(()) => true,
        Err(Errno::OPNOTSUPP | Errno::PERM) => false,
        Err(errno) => panic!("{errno}"),
    }
}

#[test]
fn keeps_extended_attributes() {
    let fixture = Fixture::new("file = old");
    let host = fixture.root().join("file");
    let file = File::open(&host).unwrap();
    let large = vec![b'x'; 1000];
    if !set(&file, "user.note", b"kept")
        || !set(&file, "user.large", &large)
        || !set(&file, "user.empty", b"")
    {
        return;
    }
    let workdir = fixture.workdir();
    workdir.write_atomic(&path(&workdir, "file"), b"new", Replace).unwrap();
    let file = File::open(&host).unwrap();
    assert_eq!(fs::read(&host).unwrap(), b"new");
    assert_eq!(get(&file, "user.note").as_deref(), Some(b"kept".as_slice()));
    assert_eq!(get(&file, "user.large"), Some(large));
    assert_eq!(get(&file, "user.empty"), Some(Vec::new()));
}

#[test]
fn keeps_an_access_control_list() {
    let fixture = Fixture::new("file = old");
    let host = fixture.root().join("file");
    fs::set_permissions(&host, fs::Permissions::from_mode(0o640)).unwrap();
    if !set(&File::open(&host).unwrap(), ACCESS_LIST, &access_list()) {
        return;
    }
    let workdir = fixture.workdir();
    workdir.write_atomic(&path(&workdir, "file"), b"new", Replace).unwrap();
    assert_eq!(get(&File::open(&host).unwrap(), ACCESS_LIST), Some(access_list()));
    assert_eq!(fs::metadata(&host).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn gives_nobody_more_than_the_file_gave() {
    let fixture = Fixture::new("dir/file = old");
    let host = fixture.root().join("dir/file");
    fs::set_permissions(&host, fs::Permissions::from_mode(0o640)).unwrap();
    // What the directory gives to each new file.
    if !set(&File::open(fixture.root().join("dir")).unwrap(), DEFAULT_LIST, &access_list()) {
        return;
    }
    let workdir = fixture.workdir();
    workdir.write_atomic(&path(&workdir, "dir/file"), b"new", Replace).unwrap();
    assert_eq!(get(&File::open(&host).unwrap(), ACCESS_LIST), None);
    assert_eq!(fs::metadata(&host).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn keeps_the_owner_where_it_may() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let fixture = Fixture::new("file = old");
    let host = fixture.root().join("file");
    std::os::unix::fs::chown(&host, Some(1234), Some(2345)).unwrap();
    let workdir = fixture.workdir();
    workdir.write_atomic(&path(&workdir, "file"), b"new", Replace).unwrap();
    let stat = fs::metadata(&host).unwrap();
    assert_eq!(
        (stat.uid(), stat.gid(), fs::read(&host).unwrap().as_slice()),
        (1234, 2345, b"new".as_slice())
    );
}
