use crate::{Workdir, WorkdirPath};
use std::fs::File;

impl Workdir {
    /// Opens a file and reads it whole if that does not wait for a disk: it has at most so many bytes, and they are in memory.
    ///
    /// What is at hand can be read where waiting is forbidden, in an asynchronous task for one. Nothing is at hand that cannot
    /// be read, on systems other than Linux, and on file systems that cannot tell; [`Workdir::read`] says why, or waits. The
    /// file is given with its bytes, so that whoever goes on with it need not open it again, and does so with the same one.
    ///
    /// ```
    /// use haft_workdir::Workdir;
    ///
    /// # let scratch = tempfile::tempdir()?;
    /// # let project = scratch.path();
    /// std::fs::write(project.join("README.md"), "Read me.")?;
    /// let workdir = Workdir::open(project)?;
    /// let readme = workdir.resolve("README.md")?;
    /// assert!(workdir.open_at_hand(&readme, 4).is_none());
    /// assert!(workdir.open_at_hand(&readme, 8).is_none_or(|(_, bytes)| bytes == b"Read me."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_at_hand(&self, path: &WorkdirPath, most_bytes: usize) -> Option<(File, Vec<u8>)> {
        let (file, stat) = self.open_regular(path).ok()?;
        let bytes = usize::try_from(stat.st_size).ok()?;
        if bytes > most_bytes {
            return None;
        }
        // With room for one more, since a file that has grown meanwhile is not read whole.
        let mut content = vec![0; bytes + 1];
        let read = read_now(&file, &mut content)?;
        content.truncate(read);
        (read == bytes).then_some((file, content))
    }
}

#[cfg(target_os = "linux")]
fn read_now(file: &File, content: &mut [u8]) -> Option<usize> {
    use rustix::io::{ReadWriteFlags, preadv2};
    use std::io::IoSliceMut;
    preadv2(file, &mut [IoSliceMut::new(content)], 0, ReadWriteFlags::NOWAIT).ok()
}

#[cfg(not(target_os = "linux"))]
fn read_now(_file: &File, _content: &mut [u8]) -> Option<usize> {
    None
}
