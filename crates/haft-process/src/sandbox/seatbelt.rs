//! What `sandbox-exec` of macOS is told of a confinement.
//!
//! It is made on every system, so that it can be looked at and tested on every system. No path stands in the text: a profile is
//! a program, and a name with quotes and parentheses in it would be one, too. Each is a parameter of the profile.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::confinement::{Confinement, Network};

/// The port at which names are looked up.
const DNS: u16 = 53;

/// What is allowed whatever a confinement says: to be processes that know one another and their system.
///
/// Names, sizes and times can be looked at everywhere, as on Linux. Of the services of the system there are those that look
/// up users, settings of the locale and, behind the network, hosts and certificates; none that does something for somebody.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow file-read-metadata)
(allow file-read* (literal "/"))
(allow file-read* file-write-data file-ioctl
    (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (subpath "/dev/fd")
    (literal "/dev/random") (literal "/dev/urandom") (regex #"^/dev/ttys[0-9]+$"))
(allow mach-lookup
    (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership")
    (global-name "com.apple.cfprefsd.daemon") (global-name "com.apple.cfprefsd.agent"))
"#;

/// What is needed to look up names: the system does it for its programs.
const NAMES: &str = r#"(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow network-outbound (remote udp "*:53"))
(allow mach-lookup
    (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.SystemConfiguration.DNSConfiguration")
    (global-name "com.apple.trustd.agent"))
"#;

/// Is a profile of Seatbelt, by which macOS confines programs, with the paths that it is about.
///
/// ```
/// use haft_process::sandbox::{Confinement, SeatbeltProfile};
///
/// let project = tempfile::tempdir()?;
/// let profile = SeatbeltProfile::of(&Confinement::new().read("/usr").write(project.path()));
/// assert!(profile.text().contains(r#"(subpath (param "WRITE_0"))"#));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatbeltProfile {
    text: String,
    parameters: Vec<(String, PathBuf)>,
}

impl SeatbeltProfile {
    /// Makes the profile of a confinement; paths mean what they lead to now.
    ///
    /// A network of its own is none, because there is nothing that it could be made of. How much may be used is not said in
    /// it.
    pub fn of(confinement: &Confinement) -> Self {
        Self::with(confinement, |path| path.canonicalize().ok())
    }

    /// The text of the profile.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parameters of the profile with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.parameters.iter().map(|(name, path)| (name.as_str(), path.as_path()))
    }

    /// What `sandbox-exec` is given in front of the program.
    #[cfg_attr(not(any(target_os = "macos", test)), expect(dead_code, reason = "there is no `sandbox-exec`"))]
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![OsString::from("-p"), OsString::from(&self.text)];
        for (name, path) in &self.parameters {
            let mut parameter = OsString::from(format!("-D{name}="));
            parameter.push(path);
            arguments.push(parameter);
        }
        arguments.push("--".into());
        arguments
    }

    fn with(confinement: &Confinement, resolve: impl Fn(&Path) -> Option<PathBuf>) -> Self {
        let mut profile = Self { text: BASE.to_owned(), parameters: Vec::new() };
        let found =
            |paths: &[PathBuf]| paths.iter().filter_map(|path| resolve(path)).collect::<BTreeSet<_>>();
        let writes = found(&confinement.writes);
        let own: Vec<PathBuf> = confinement
            .scratch
            .iter()
            .flat_map(|scratch| ["tmp", "shm"].map(|name| scratch.join(name)))
            .collect();
        let own = found(&own);
        profile.rule(
            "allow file-read* process-exec file-map-executable",
            "READ",
            "subpath",
            &found(&confinement.reads),
        );
        let access = "allow file-read* file-write* process-exec file-map-executable";
        profile.rule(access, "WRITE", "subpath", &writes);
        profile.rule(access, "SCRATCH", "subpath", &own);
        profile.network(confinement);
        // The last rule that speaks of something counts.
        let protected: BTreeSet<PathBuf> =
            confinement.protected.iter().filter_map(|path| place(path, &resolve)).collect();
        profile.rule("deny file-write*", "PROTECTED", "subpath", &protected);
        let above: BTreeSet<PathBuf> = protected
            .iter()
            .flat_map(|path| path.ancestors().skip(1))
            .filter(|above| writes.iter().any(|root| above.starts_with(root) && above != root))
            .map(Path::to_owned)
            .collect();
        profile.rule("deny file-write-unlink", "ABOVE", "literal", &above);
        let hidden = confinement.hidden.iter().filter_map(|path| place(path, &resolve)).collect();
        profile.rule(
            "deny file-read* file-write* process-exec file-map-executable",
            "HIDDEN",
            "subpath",
            &hidden,
        );
        profile
    }

    /// Adds a rule about paths, if there are any.
    fn rule(&mut self, rule: &str, name: &str, kind: &str, paths: &BTreeSet<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        // Writing to a string cannot fail.
        let _ = write!(self.text, "({rule}");
        for (number, path) in paths.iter().enumerate() {
            let name = format!("{name}_{number}");
            let _ = write!(self.text, "\n    ({kind} (param \"{name}\"))");
            self.parameters.push((name, path.clone()));
        }
        self.text.push_str(")\n");
    }

    fn network(&mut self, confinement: &Confinement) {
        match &confinement.network {
            Network::None | Network::Loopback => {}
            Network::Ports(ports) => {
                for port in ports {
                    let _ = writeln!(self.text, "(allow network-outbound (remote tcp \"*:{port}\"))");
                }
                for port in &confinement.serves {
                    let _ =
                        writeln!(self.text, "(allow network-bind network-inbound (local tcp \"*:{port}\"))");
                }
                if ports.contains(&DNS) {
                    self.text.push_str(NAMES);
                }
            }
            Network::Any => {
                self.text.push_str("(allow network-outbound (remote ip \"*:*\"))\n");
                self.text.push_str("(allow network-bind network-inbound (local ip \"*:*\"))\n");
                self.text.push_str(NAMES);
            }
        }
        if confinement.local_sockets {
            self.text.push_str("(allow network-outbound (remote unix-socket))\n");
        }
    }
}

/// Where a path leads to, or would if something were there: what is denied is denied before it is made.
fn place(path: &Path, resolve: &impl Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    resolve(path).or_else(|| Some(place(path.parent()?, resolve)?.join(path.file_name()?)))
}

#[cfg(test)]
mod tests;
