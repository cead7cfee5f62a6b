use serde_json::Value;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program to compare with.
pub(crate) struct Rg(PathBuf);

impl Rg {
    /// Finds it, or says where it was looked for.
    pub(crate) fn find() -> Result<Self, String> {
        let named = env::var_os("HAFT_BENCH_RG").map(PathBuf::from);
        let paths = env::var_os("PATH").unwrap_or_default();
        let mut candidates =
            named.clone().into_iter().chain(env::split_paths(&paths).map(|path| path.join("rg")));
        match candidates.find(|candidate| candidate.is_file()) {
            Some(program) => Ok(Self(program)),
            None => Err(format!(
                "there is no `rg` to compare with: neither {} nor a program of that name on the search path is one; \
                 build it with `cargo install ripgrep --root DIRECTORY` and set HAFT_BENCH_RG to DIRECTORY/bin/rg",
                named.map_or("HAFT_BENCH_RG".to_owned(), |path| path.display().to_string()),
            )),
        }
    }

    pub(crate) fn version(&self) -> String {
        let text = self.run(Path::new("."), &["--version"]);
        String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned()
    }

    /// Runs it and reads all it writes.
    pub(crate) fn run(&self, tree: &Path, arguments: &[&str]) -> Vec<u8> {
        let mut command = Command::new(&self.0);
        command.arg("--no-config").args(arguments).current_dir(tree).stdin(Stdio::null());
        let output = command.output().unwrap();
        // 1 says that nothing matches, 2 that something could not be read or is wrong.
        let is_wrong = output.status.code() == Some(2) && output.stdout.is_empty();
        assert!(
            output.status.code().is_some_and(|code| code <= 2) && !is_wrong,
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }

    /// Runs it and reads what it writes as messages.
    pub(crate) fn messages(&self, tree: &Path, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(tree, &[&["--json"], arguments].concat());
        output
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
            .filter(|message| message["type"] == "match")
            .collect()
    }
}
