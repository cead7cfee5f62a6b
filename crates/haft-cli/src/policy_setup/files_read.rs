use super::naming::{NamesFor, Naming};
use super::snapshot::Snapshot;
use super::{Files, PolicyInForce, PolicyOptions, PolicySetup, is_there};
use crate::config::TABLES;
use crate::offered::named_tool;
use crate::user_directories::{POLICY_FILE, UserDirectories};
use anyhow::Result;
use haft::ToolRegistry;
use haft::policy::{PolicyLoader, PolicySwitches, Trust};
use haft::shell::CommandCatalog;
use haft::tools_core::{ModeSwitch, RuleLanguage};
use std::path::{Path, PathBuf};

/// Is the files that decide as they were read: what they come to is known when the tools are there.
pub(super) struct FilesRead<'a> {
    layers: Layers<'a>,
    pub(super) snapshot: Snapshot,
    /// What holds whatever tools there are.
    pub(super) switches: PolicySwitches,
}

/// Says what a policy is made of.
#[derive(Clone, Copy)]
struct Layers<'a> {
    setup: PolicySetup<'a>,
    options: &'a PolicyOptions,
    files: Files,
    names: NamesFor,
}

impl<'a> FilesRead<'a> {
    /// Reads the files.
    ///
    /// Which files there are is known when they have been read: then they are loaded in a language that protects each of
    /// them, from the snapshot, and not from files that may have changed.
    pub(super) fn of(
        setup: PolicySetup<'a>,
        options: &'a PolicyOptions,
        files: Files,
        names: NamesFor,
    ) -> Result<Self> {
        let layers = Layers { setup, options, files, names };
        let snapshot = layers.naming().snapshot(options.policy.as_deref(), &setup.configuration.texts);
        let language = layers.user().default_rules(setup.workdir).language();
        let switches = layers.loader(language, &snapshot).switches()?;
        Ok(Self { layers, snapshot, switches })
    }

    /// Makes a loader of the files.
    pub(super) fn loader(&self, language: RuleLanguage) -> PolicyLoader<'_> {
        self.layers.loader(language, &self.snapshot)
    }

    /// Runs the tests of the files, and puts the layers together.
    pub(super) fn load(&self, tools: &ToolRegistry, catalog: &CommandCatalog) -> Result<PolicyInForce> {
        let setup = self.layers.setup;
        let named = |name: &str| named_tool(setup.configuration, name);
        let language = setup.language(&self.snapshot, catalog)?;
        let loaded = self.loader(language).tools(tools).other_tools(&named).load()?;
        let mode = ModeSwitch::new(loaded.mode);
        let is_untrusted = match (self.layers.files, &setup.configuration.workspace) {
            (Files::InForce, Some(file)) => file.trust == Trust::Untrusted,
            _ => false,
        };
        let untrusted = is_untrusted.then(|| setup.given.join(POLICY_FILE));
        Ok(PolicyInForce { loaded, mode, untrusted })
    }
}

impl<'a> Layers<'a> {
    fn user(self) -> &'a UserDirectories {
        &self.setup.configuration.user.directories
    }

    fn naming(self) -> Naming<'a> {
        let PolicySetup { workdir, given, .. } = self.setup;
        Naming { names: self.names, workdir, given, user: self.user() }
    }

    fn loader(self, language: RuleLanguage, snapshot: &Snapshot) -> PolicyLoader<'_> {
        let Self { setup, options, files, .. } = self;
        let naming = self.naming();
        let mut loader = PolicyLoader::new(language).others(TABLES).source(snapshot);
        match files {
            Files::Named => loader = loader.without_default_profile(),
            Files::InForce => {
                if let Some(user) = self.user_file() {
                    loader = loader.user(user);
                }
                if let Some(workspace) = &setup.configuration.workspace {
                    loader = loader.workspace(naming.workspace(), workspace.trust);
                }
            }
        }
        if let Some(file) = &options.policy {
            let file = naming.command_line(file);
            // Looked at by itself, it may be what is to be the user's or a workspace's.
            loader = match files {
                Files::InForce => loader.command_line(file),
                Files::Named => loader.user(file),
            };
        }
        if let Some(profile) = options.profile {
            loader = loader.profile(profile);
        }
        if let Some(sandbox) = options.sandbox {
            loader = loader.sandbox(sandbox);
        }
        match options.mode {
            Some(mode) => loader.mode(mode),
            None => loader,
        }
    }

    /// The user's file as it is written for people and models, if there is one.
    fn user_file(self) -> Option<PathBuf> {
        self.user().policy_file().filter(|path| is_there(path))?;
        Some(Path::new(self.user().config()?.1).join(POLICY_FILE))
    }
}
