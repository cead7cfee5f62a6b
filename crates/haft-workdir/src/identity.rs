use rustix::fs::Stat;

/// Which file or directory something is, whatever names it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Identity {
    device: i128,
    inode: i128,
}

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Self {
        // The fields have other integer types on every system; going through i128 reads them all alike.
        Self { device: i128::from(stat.st_dev), inode: i128::from(stat.st_ino) }
    }

    /// Returns the number of the file in its file system.
    pub(crate) fn inode(self) -> i128 {
        self.inode
    }

    /// Returns both numbers as bytes, to be written down.
    pub(crate) fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.device.to_le_bytes());
        bytes[16..].copy_from_slice(&self.inode.to_le_bytes());
        bytes
    }
}

/// Tells whether a file has more than one name.
pub(crate) fn has_other_names(stat: &Stat) -> bool {
    i128::from(stat.st_nlink) > 1
}
