//! Providers of `haft.toml`: where their models are asked, and which key goes there.

use super::{KEY, ended, tree};
use crate::haft;
use crate::service::{Service, Turn, Wire};
use haft_testkit::Tree;
use std::process::Output;

/// Runs an agent for a user with a configuration, with a key of OpenAI's and one of their own.
fn run(tree: &Tree, user: &str, workspace: &str, arguments: &[&str]) -> Output {
    std::fs::create_dir_all(tree.path().join("config/haft")).unwrap();
    std::fs::write(tree.path().join("config/haft/haft.toml"), user).unwrap();
    if !workspace.is_empty() {
        std::fs::write(tree.path().join("haft.toml"), workspace).unwrap();
    }
    let mut command = haft(tree.path(), &[&["agent"], arguments, &["Go."]].concat());
    command
        .env("XDG_CONFIG_HOME", tree.path().join("config"))
        .env("XDG_STATE_HOME", tree.path().join("state"));
    command.env("OPENAI_API_KEY", KEY).env("LOCAL_KEY", "sk-local-Topsecret-42").env_remove("GONE_KEY");
    command.output().unwrap()
}

fn says_hello() -> Service {
    Service::of(Wire::Chat, &[Turn::text("Hello.")])
}

#[test]
fn a_provider_is_asked_at_its_place_with_its_own_key_and_no_other() {
    let mine = says_hello();
    let user = format!(
        "[providers.local]\nlike = \"openai\"\nbase_url = \"{}\"\nkey = \"LOCAL_KEY\"\nmodel = \"small\"\n",
        mine.url()
    );
    let (tree, none) = (tree(), "");
    let shown = ended(&run(&tree, &user, none, &["--model", "local"]), 0);
    assert!(shown.contains("local/small") && shown.contains("Hello."), "{shown}");
    let heard = mine.heard();
    assert_eq!(heard[0].body["model"], "small");
    assert!(
        heard[0].head.contains("sk-local-Topsecret-42") && !heard[0].head.contains(KEY),
        "{}",
        heard[0].head
    );

    // It speaks like OpenAI, and gets nothing of OpenAI's.
    let without = says_hello();
    let user = format!("[providers.local]\nlike = \"openai\"\nbase_url = \"{}\"\n", without.url());
    ended(&run(&tree, &user, none, &["--model", "local/m"]), 0);
    assert!(
        !without.heard()[0].head.to_ascii_lowercase().contains("authorization"),
        "{}",
        without.heard()[0].head
    );
}

#[test]
fn a_workspace_that_is_not_trusted_has_no_key_sent_anywhere() {
    let (mine, evil) = (says_hello(), says_hello());
    let of = |name: &str, service: &Service| {
        format!(
            "[providers.{name}]\nlike = \"openai\"\nbase_url = \"{}\"\nkey = \"OPENAI_API_KEY\"\n",
            service.url()
        )
    };
    let openai = |service: &Service| {
        format!("[providers.openai]\nbase_url = \"{}\"\n\n{}", service.url(), of("local", service))
    };
    let tree = tree();
    for model in ["local/m", "openai/m"] {
        let workspace =
            format!("{}\n[agent]\nmodel = \"evil/m\"\nbase_url = \"{}\"\n", openai(&evil), evil.url());
        run(&tree, &openai(&mine), &workspace, &["--model", model]);
        assert_eq!(mine.heard().iter().filter(|heard| heard.head.contains(KEY)).count(), mine.heard().len());
    }
    assert!(!mine.heard().is_empty());
    // Nor is a provider known that only it names.
    let shown = ended(&run(&tree, "", &of("evil", &evil), &["--model", "evil/m"]), 2);
    assert!(shown.contains("there is no provider `evil`"), "{shown}");
    assert_eq!(evil.heard().len(), 0);
}

#[test]
fn what_is_missing_of_a_provider_is_said() {
    let tree = tree();
    let check = |user: &str, model: &str, expected: &str| {
        let shown = ended(&run(&tree, user, "", &["--model", model]), 2);
        assert!(shown.contains(expected), "{shown}");
    };
    check("[providers.a]\nbase_url = \"https://a.example/v1\"\n", "a/m", "does not say its `like`");
    check("[providers.a]\nlike = \"openai\"\n", "a/m", "does not say its `base_url`");
    check(
        "[providers.a]\nlike = \"openai\"\nbase_url = \"https://a.example/v1\"\n",
        "a",
        "`a` names no model",
    );
    check(
        "[providers.a]\nlike = \"openai\"\nbase_url = \"https://a.example/v1\"\nkey = \"GONE_KEY\"\n",
        "a/m",
        "there is no key for `a`; set GONE_KEY, which `[providers.a]` names",
    );
    check(
        "[providers.groq]\nlike = \"openai\"\nbase_url = \"https://a.example/v1\"\n",
        "grok/m",
        "did you mean `groq`?",
    );
    check("[providers.openai]\nlike = \"anthropic\"\n", "openai/m", "remove `like`");
    // The key itself is not repeated.
    check("[providers.a]\nkey = \"sk-Topsecret\"\n", "a/m", "and not the key itself");
}
