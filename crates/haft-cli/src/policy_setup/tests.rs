use super::{Files, PolicyOptions, PolicySetup, TrustStore};
use crate::config::{Configuration, UserConfig};
use crate::user_directories::UserDirectories;
use haft::ToolRegistry;
use haft::policy::Trust;
use haft::tools_core::Mode;
use haft_testkit::Tree;
use std::fs;
use std::os::unix::fs::symlink;

/// Has a link of a trusted workspace in the mode `plan` lead elsewhere when what is configured there has been read, and looks
/// in which mode its runs are.
fn check(link: &str, target: &str) {
    let tree = Tree::new()
        .file("work/main.toml", "include = [\"rules.toml\", \"more/rules.toml\"]\n")
        .file("work/good.toml", "[permissions]\nmode = \"plan\"\n")
        .file("work/there/rules.toml", "")
        .file("work/evil.toml", "[permissions]\nmode = \"auto\"\n")
        .file("work/evil/rules.toml", "[permissions]\nmode = \"auto\"\n")
        .link("work/haft.toml", "main.toml")
        .link("work/rules.toml", "good.toml")
        .link("work/more", "there")
        .link("named", "work");
    let workdir = haft::Workdir::open(tree.path().join("work")).unwrap();
    let user = || UserConfig::of(UserDirectories::below(&tree.path().join("home"))).unwrap();
    let read = || Configuration::beside(user(), &workdir).unwrap();
    let looked_at = read();
    let store = TrustStore::of(&looked_at.user.directories).unwrap();
    store.trust(looked_at.workspace.as_ref().unwrap()).unwrap();

    let configuration = read();
    assert_eq!(configuration.workspace.as_ref().unwrap().trust, Trust::Trusted);
    let link = tree.path().join("work").join(link);
    fs::remove_file(&link).unwrap();
    symlink(target, &link).unwrap();
    let (options, tools, catalog) =
        (PolicyOptions::default(), ToolRegistry::new(), configuration.catalog().unwrap());
    let modes = ["work", "named"].map(|given| {
        let given = tree.path().join(given);
        let setup = PolicySetup::new(&configuration, &workdir, Some(&given));
        let for_models = setup.in_force(&options, &tools, &catalog).unwrap();
        let for_people = setup.load(&options, Files::InForce, &tools, &catalog).unwrap();
        (for_models.loaded.mode, for_people.loaded.mode)
    });
    assert_eq!(modes, [(Mode::Plan, Mode::Plan); 2]);
    assert_eq!(read().workspace.unwrap().trust, Trust::Untrusted);
}

#[test]
fn a_workspace_file_that_becomes_another_is_not_trusted_for_what_it_was() {
    check("haft.toml", "evil.toml");
}

#[test]
fn an_included_file_that_becomes_another_is_not_trusted_for_what_it_was() {
    check("rules.toml", "evil.toml");
}

#[test]
fn a_directory_that_becomes_another_is_not_trusted_for_what_was_in_it() {
    check("more", "evil");
}
