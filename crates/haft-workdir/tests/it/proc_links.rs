//! The links of `/proc`, which lead where their text does not say.

use std::fs::File;
use std::os::fd::AsRawFd;

use haft_workdir::{Error, Workdir};

use crate::fixture::{Fixture, path};

/// A root at `/proc/self`, with both ways to look paths up.
fn roots() -> [Workdir; 2] {
    [Workdir::open("/proc/self").unwrap(), Workdir::open_by_components("/proc/self").unwrap()]
}

#[test]
fn refuses_magic_links() {
    let fixture = Fixture::new("");
    let secret = File::open(fixture.outside().join("secret")).unwrap();
    let descriptor = format!("fd/{}", secret.as_raw_fd());
    for workdir in roots() {
        for given in ["root/etc/passwd", "cwd", "exe", &descriptor] {
            let error = workdir.resolve(given).unwrap_err();
            assert!(matches!(error, haft_workdir::ResolveError::LinkOutside { .. }), "{given}: {error:?}");
        }
    }
}

#[test]
fn opens_no_magic_link() {
    for workdir in roots() {
        let link = path(&workdir, ".").join_file_name("exe").unwrap();
        assert!(matches!(workdir.open_file(&link), Err(Error::Changed { .. })));
        let below =
            path(&workdir, ".").join_file_name("root").and_then(|root| root.join_file_name("etc")).unwrap();
        assert!(matches!(workdir.read_dir(&below), Err(Error::Changed { .. })));
    }
}

#[test]
fn bounds_a_file_that_claims_to_be_empty() {
    for workdir in roots() {
        let file = path(&workdir, "status");
        assert_eq!(workdir.metadata(&file).unwrap().size(), 0);
        assert!(matches!(workdir.read(&file, 10), Err(Error::TooLarge { limit: 10, .. })));
        assert!(workdir.read(&file, 1 << 20).unwrap().starts_with(b"Name:"));
    }
}

#[test]
fn refuses_devices() {
    for workdir in [Workdir::open("/dev").unwrap(), Workdir::open_by_components("/dev").unwrap()] {
        let error = workdir.read(&path(&workdir, "zero"), 10).unwrap_err();
        assert_eq!(
            error.model_text(),
            "`zero` is a character device, not a regular file; use the path of a regular file"
        );
    }
}
