use crate::fixture::{Memory, access_of, decision, language};
use haft_policy::{PolicyLoader, Profile, ProfileError};
use haft_tools_core::AccessMode;

#[test]
fn each_profile_passes_its_own_tests() {
    for profile in Profile::ALL {
        let files = Memory::default().with("profile.toml", profile.text());
        let loaded =
            PolicyLoader::new(language()).without_default_profile().source(files).user("profile.toml").load();
        let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
        assert!(loaded.tests_passed >= 7 && loaded.tests_not_run == 0, "{profile}");
    }
}

#[test]
fn each_profile_contains_the_one_before_it() {
    let accesses =
        ["read(a)", "write(a)", "exec(git status)", "exec(mkdir a)", "exec(x)", "connect(a:1)", "opaque"];
    let decisions = Profile::ALL.map(|profile| {
        let loaded = PolicyLoader::new(language()).profile(profile).load().unwrap();
        accesses.map(|access| decision(&loaded, &[], &access_of(access)))
    });
    for (narrow, wide) in decisions.iter().zip(&decisions[1..]) {
        assert!(narrow.iter().zip(wide).all(|(narrow, wide)| wide <= narrow), "{decisions:?}");
    }
}

#[test]
fn profiles_are_ordered_and_read_back_from_what_they_are_written_as() {
    for profile in Profile::ALL {
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }
    assert!(Profile::ReadOnly < Profile::WorkspaceWrite && Profile::WorkspaceWrite < Profile::FullAccess);
    let said = |text: &str| text.parse::<Profile>().map_err(|error: ProfileError| error.to_string());
    assert_eq!(said("full-acess"), Err("`full-acess` is not a profile; write `full_access`".to_owned()));
    assert_eq!(
        said("x"),
        Err("`x` is not a profile; write `read_only`, `workspace_write` or `full_access`".to_owned())
    );
}

#[test]
fn a_profile_leaves_out_what_a_language_has_no_patterns_of() {
    let files_alone =
        haft_tools_core::RuleLanguage::new().with(AccessMode::Read, crate::fixture::Fake::Files);
    for profile in Profile::ALL {
        assert!(profile.file(&files_alone).is_ok());
    }
}
