use haft::mcp::{Era, EraMemory, ServerIdentity};
use haft::tools_core::PrivateFiles;
use std::path::PathBuf;

/// Remembers from one command to the next which era of the protocol each server speaks, in a file for each.
#[derive(Debug)]
pub(super) struct EraFiles(PrivateFiles);

impl EraFiles {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self(PrivateFiles::new(directory))
    }
}

impl EraMemory for EraFiles {
    fn recall(&self, server: &ServerIdentity) -> Option<Era> {
        match self.0.read(&server.to_string()).ok()??.trim_end() {
            "legacy" => Some(Era::Legacy),
            "modern" => Some(Era::Modern),
            _ => None,
        }
    }

    fn remember(&self, server: &ServerIdentity, era: Era) {
        let text = match era {
            Era::Legacy => "legacy\n",
            Era::Modern => "modern\n",
            // What has no word here is found out again.
            _ => return,
        };
        if self.recall(server) != Some(era) {
            // What is forgotten is found out again.
            let _ = self.0.write(&server.to_string(), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft::mcp::{RemoteServer, ServerConfig, Transport};

    #[test]
    fn remembers_in_a_file_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let transport = Transport::Http(RemoteServer::new("https://example.org/"));
        let server = ServerIdentity::of(&ServerConfig::new("a".parse().unwrap(), transport));
        let eras = || EraFiles::new(directory.path().join("eras"));
        assert_eq!(eras().recall(&server), None);
        for era in [Era::Modern, Era::Legacy] {
            eras().remember(&server, era);
            assert_eq!(eras().recall(&server), Some(era));
        }
        std::fs::write(eras().0.path(&server.to_string()), "odd").unwrap();
        assert_eq!(eras().recall(&server), None);
    }
}
