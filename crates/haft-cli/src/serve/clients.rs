use crate::exit::UsageError;
use crate::policy_setup::PolicyOptions;
use anyhow::{Context as _, Result};
use haft::mcp::Principal;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Says what holds for each client.
#[derive(Debug, Clone, Default)]
pub(super) struct Clients(BTreeMap<String, ClientSettings>);

/// Says what holds for one client, where that is not what holds for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClientSettings {
    pub(super) policy: Option<PolicyOptions>,
    pub(super) workdir: Option<PathBuf>,
    /// How many requests are answered in a minute.
    pub(super) requests_per_minute: Option<NonZeroU32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    clients: BTreeMap<String, Section>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    profile: Option<String>,
    policy: Option<PathBuf>,
    mode: Option<String>,
    workdir: Option<PathBuf>,
    requests_per_minute: Option<NonZeroU32>,
}

impl Clients {
    /// Reads the file that says what holds for each client, if there is one.
    pub(super) fn of(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| {
            UsageError(format!("cannot read `{shown}`; name a text file with `--clients`"))
        })?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::read(&text, directory)
            .with_context(|| UsageError(format!("cannot use the clients of `{shown}`; correct the file")))
    }

    /// Reads what is written; paths are those from a directory.
    fn read(text: &str, directory: &Path) -> Result<Self> {
        let file: File = toml::from_str(text)?;
        let settings = file.clients.into_iter().map(|(name, section)| {
            let settings = section.settings(directory).with_context(|| format!("the client `{name}`"))?;
            Ok((name, settings))
        });
        Ok(Self(settings.collect::<Result<_>>()?))
    }

    /// Says what holds for a client; nothing of its own for one that is not named.
    pub(super) fn get(&self, principal: &Principal) -> ClientSettings {
        self.0.get(principal.as_str()).cloned().unwrap_or_default()
    }

    /// Names those of whom something is said.
    pub(super) fn named(&self) -> impl Iterator<Item = Principal> + '_ {
        self.0.keys().map(|name| Principal::new(&**name))
    }

    /// Says how many requests a minute are answered to whom.
    pub(super) fn rates(&self) -> BTreeMap<Principal, NonZeroU32> {
        let rates = self.0.iter();
        rates
            .filter_map(|(name, settings)| Some((Principal::new(&**name), settings.requests_per_minute?)))
            .collect()
    }
}

impl Section {
    fn settings(self, directory: &Path) -> Result<ClientSettings> {
        let Self { profile, policy, mode, workdir, requests_per_minute } = self;
        let policy = PolicyOptions {
            profile: profile.as_deref().map(str::parse).transpose()?,
            policy: policy.map(|path| directory.join(path)),
            mode: mode.as_deref().map(str::parse).transpose()?,
            sandbox: None,
        };
        let workdir = workdir.map(|path| directory.join(path));
        Ok(ClientSettings { policy: policy.are_given().then_some(policy), workdir, requests_per_minute })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

    use super::{ClientSettings, Clients};
    use expect_test::{Expect, expect};
    use haft::mcp::Principal;
    use std::path::Path;

    #[test]
    fn each_client_has_its_own() {
        let text = "
            [clients.laptop]
            profile = \"workspace_write\"
            mode = \"accept_edits\"
            workdir = \"project\"

            [clients.\"https://issuer|ci\"]
            policy = \"ci.toml\"
            requests_per_minute = 60

            [clients.nothing]
        ";
        let clients = Clients::read(text, Path::new("/etc/haft")).unwrap();
        let laptop = clients.get(&Principal::new("laptop"));
        let policy = laptop.policy.unwrap();
        assert_eq!(policy.profile.unwrap().to_string(), "workspace_write");
        assert_eq!(policy.mode.unwrap().to_string(), "accept_edits");
        assert_eq!(laptop.workdir.unwrap(), Path::new("/etc/haft/project"));
        let ci = clients.get(&Principal::new("https://issuer|ci"));
        assert_eq!(ci.policy.unwrap().policy.unwrap(), Path::new("/etc/haft/ci.toml"));
        for other in ["nothing", "unknown", "local"] {
            assert_eq!(clients.get(&Principal::new(other)), ClientSettings::default());
        }
        let rates: Vec<_> =
            clients.rates().into_iter().map(|(who, rate)| (who.as_str().to_owned(), rate.get())).collect();
        assert_eq!(rates, [("https://issuer|ci".to_owned(), 60)]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        #[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
        fn check(text: &str, expected: Expect) {
            expected.assert_eq(&format!("{:#}", Clients::read(text, Path::new("")).unwrap_err()));
        }
        check(
            "[clients.a]\nprofile = \"everything\"",
            expect![
                "the client `a`: `everything` is not a profile; write `read_only`, `workspace_write` or `full_access`"
            ],
        );
        check(
            "[clients.a]\nmode = \"wild\"",
            expect![
                "the client `a`: `wild` is not a mode; write `plan`, `deny_unknown`, `default`, `accept_edits` or `auto`"
            ],
        );
        check(
            "[clients.a]\ntoken = \"x\"",
            expect![[r#"
            TOML parse error at line 2, column 1
              |
            2 | token = "x"
              | ^^^^^
            unknown field `token`, expected one of `profile`, `policy`, `mode`, `workdir`, `requests_per_minute`
        "#]],
        );
        check(
            "[clients.a]\nrequests_per_minute = 0",
            expect![[r#"
            TOML parse error at line 2, column 23
              |
            2 | requests_per_minute = 0
              |                       ^
            invalid value: integer `0`, expected a nonzero u32
        "#]],
        );
        check(
            "[client.a]",
            expect![[r#"
            TOML parse error at line 1, column 2
              |
            1 | [client.a]
              |  ^^^^^^
            unknown field `client`, expected `clients`
        "#]],
        );
    }
}
