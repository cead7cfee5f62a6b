//! Documents and variables that are not as they should be.

use super::user;
use expect_test::{Expect, expect};

const WRONG: &str = r#"
[openapi.pets]
document = "${PLACE:-nowhere}/pets.yaml"

[openapi.a__b]
document = "x"

[openapi.empty]
server = "https://a.example"

[openapi.gone]
document = "gone.yaml"

[openapi.key]
document = "x"
credentials.key = { secret = "${TOKEN}", password = "p" }

[openapi.old]
document = "${UNSET_VARIABLE}"
disabled = true

[openapi.slip]
document = "x"
credentals = {}

[openapi.unset]
document = "x"
headers = { "X-Team" = "${UNSET_VARIABLE}" }
"#;

#[test]
fn what_is_wrong_with_one_document_of_the_configuration_keeps_no_other_from_being_used() {
    let user = user();
    user.write_config("haft.toml", &WRONG.replace("${PLACE:-nowhere}", &user.path("")));
    user.check(&["openapi", "list"], &expect![[r#"
        gone  gone.yaml
        pets  WORKSPACE//pets.yaml
        old   disabled
        stderr: note: the document `a__b` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it
        stderr: note: the document `empty` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: it has no `document`; write a path or an address
        stderr: note: the document `key` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a credential is a text, or a table of `secret` or `secret_file`, of `user` and `password`, or of `client_id` and `client_secret`
        stderr: note: the document `slip` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `credentals` is not known; did you mean `credentials`?
        stderr: note: the document `unset` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `headers`: `X-Team`: the variable `UNSET_VARIABLE` is not set; set it, or write a default as in `${UNSET_VARIABLE:-…}`
        exit 0
    "#]]);
    user.check(&["openapi", "list", "--json"], &expect![[r#"
        {
          "disabled": [
            "old"
          ],
          "documents": [
            {
              "document": "gone.yaml",
              "name": "gone"
            },
            {
              "document": "WORKSPACE//pets.yaml",
              "name": "pets"
            }
          ],
          "notes": [
            "the document `a__b` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it",
            "the document `empty` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: it has no `document`; write a path or an address",
            "the document `key` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a credential is a text, or a table of `secret` or `secret_file`, of `user` and `password`, or of `client_id` and `client_secret`",
            "the document `slip` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `credentals` is not known; did you mean `credentials`?",
            "the document `unset` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `headers`: `X-Team`: the variable `UNSET_VARIABLE` is not set; set it, or write a default as in `${UNSET_VARIABLE:-…}`"
          ],
          "refused": [
            "a__b",
            "empty",
            "key",
            "slip",
            "unset"
          ],
          "untrusted": []
        }
        exit 0
    "#]]);
    user.check(&["openapi", "check", "old"], &expect![[r#"
        stderr: note: the document `a__b` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it
        stderr: note: the document `empty` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: it has no `document`; write a path or an address
        stderr: note: the document `key` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a credential is a text, or a table of `secret` or `secret_file`, of `user` and `password`, or of `client_id` and `client_secret`
        stderr: note: the document `slip` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `credentals` is not known; did you mean `credentials`?
        stderr: note: the document `unset` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `headers`: `X-Team`: the variable `UNSET_VARIABLE` is not set; set it, or write a default as in `${UNSET_VARIABLE:-…}`
        stderr: error: the document `old` is disabled; remove `disabled` from its configuration
        exit 2
    "#]]);
    user.check(&["openapi", "check", "slip"], &expect![[r#"
        stderr: note: the document `a__b` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it
        stderr: note: the document `empty` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: it has no `document`; write a path or an address
        stderr: note: the document `key` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a credential is a text, or a table of `secret` or `secret_file`, of `user` and `password`, or of `client_id` and `client_secret`
        stderr: note: the document `slip` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `credentals` is not known; did you mean `credentials`?
        stderr: note: the document `unset` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `headers`: `X-Team`: the variable `UNSET_VARIABLE` is not set; set it, or write a default as in `${UNSET_VARIABLE:-…}`
        stderr: error: the document `slip` cannot be used; correct it as the note says
        exit 2
    "#]]);
    user.check(&["openapi", "check", "pet"], &expect![[r#"
        stderr: note: the document `a__b` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it
        stderr: note: the document `empty` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: it has no `document`; write a path or an address
        stderr: note: the document `key` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a credential is a text, or a table of `secret` or `secret_file`, of `user` and `password`, or of `client_id` and `client_secret`
        stderr: note: the document `slip` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `credentals` is not known; did you mean `credentials`?
        stderr: note: the document `unset` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `headers`: `X-Team`: the variable `UNSET_VARIABLE` is not set; set it, or write a default as in `${UNSET_VARIABLE:-…}`
        stderr: error: there is no document `pet`; did you mean `pets`?
        exit 2
    "#]]);
    user.check(&["call", "gone__it", "{}"], &expect![[r#"
        stderr: note: the document `a__b` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it
        stderr: note: the document `empty` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: it has no `document`; write a path or an address
        stderr: note: the document `key` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: a credential is a text, or a table of `secret` or `secret_file`, of `user` and `password`, or of `client_id` and `client_secret`
        stderr: note: the document `slip` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `credentals` is not known; did you mean `credentials`?
        stderr: note: the document `unset` of `$XDG_CONFIG_HOME/haft/haft.toml` is left out: `headers`: `X-Team`: the variable `UNSET_VARIABLE` is not set; set it, or write a default as in `${UNSET_VARIABLE:-…}`
        stderr: note: the document `gone` is left out: cannot read `HOME/config/haft/gone.yaml`: No such file or directory (os error 2)
        stderr: error: unknown tool: there is no tool `gone__it`; the tools are `apply_patch`, `bash`, `edit_file`, `find_files`, `glob`, `grep`, `list_files`, `outline`, `read_file`, `run_program`, `web_fetch` and `write_file`
        exit 1
    "#]]);
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let user = user();
    user.write_config("haft.toml", "[openapi.a\n");
    user.check(
        &["openapi", "list"],
        &expect![[r#"
            stderr: error: HOME/config/haft/haft.toml:1:11: unclosed table, expected `]`
            exit 2
        "#]],
    );
    user.check(
        &["call", "list_files", r#"{"path":"none"}"#],
        &expect![[r#"
        stderr: error: HOME/config/haft/haft.toml:1:11: unclosed table, expected `]`
        exit 2
    "#]],
    );
}

#[test]
fn what_a_variable_was_replaced_by_is_not_told() {
    let user = user();
    let pets = user.path("pets.yaml");
    let check = |more: &str, expected: &Expect| {
        user.write_config("haft.toml", &format!("[openapi.pets]\ndocument = \"{pets}\"\n{more}\n"));
        user.check(&["openapi", "check", "pets"], expected);
        let listed = user.shown(&["tools"]);
        assert!(
            listed.contains("note: the document `pets` is left out") && !listed.contains("s3cret"),
            "{listed}"
        );
    };
    check(
        "allow_origins = [\"https://user:${TOKEN}@a.example\"]",
        &expect![[r#"
            stderr: error: cannot use the document `pets`; name a file, an address, or a document of `haft.toml`
            stderr:   because: in `allow_origins`: an entry is not an origin; write one as `https://api.example.com` or `http://127.0.0.1:8080`, without a user and a path
            exit 2
        "#]],
    );
    let client = "client_id = \"haft\", client_secret = \"${TOKEN}\", in_body = true";
    check(
        &format!("credentials.key = {{ {client}, token_url = \"http://a.example/?${{TOKEN}}\" }}"),
        &expect![[r#"
            stderr: error: cannot use the document `pets`; name a file, an address, or a document of `haft.toml`
            stderr:   because: in `credentials.key`
            stderr:   because: `token_url` cannot be used; write an address of `https`, or of `http` on this machine, as in `https://login.example.com/token`
            exit 2
        "#]],
    );
}

#[test]
fn secrets_that_are_too_long_are_refused_and_not_cut() {
    let user = user();
    user.write_file("secret", &"x".repeat((64 << 10) + 1));
    let (pets, secret) = (user.path("pets.yaml"), user.path("secret"));
    let configuration = |key: &str| format!("[openapi.pets]\ndocument = \"{pets}\"\n{key} = \"{secret}\"\n");
    user.write_config("haft.toml", &configuration("credentials.key.secret_file"));
    user.check(
        &["openapi", "check", "pets"],
        &expect![[r#"
        stderr: error: cannot use the document `pets`; name a file, an address, or a document of `haft.toml`
        stderr:   because: in `credentials.key`
        stderr:   because: cannot read the secret in `WORKSPACE/secret`
        stderr:   because: it has more than the 65536 bytes that are read
        exit 2
    "#]],
    );
    user.write_file("secret", &"x".repeat((1 << 20) + 1));
    user.write_config("haft.toml", &configuration("authorities"));
    user.check(
        &["openapi", "check", "pets"],
        &expect![[r#"
        stderr: error: cannot use the document `pets`; name a file, an address, or a document of `haft.toml`
        stderr:   because: cannot read the certificates in `WORKSPACE/secret`
        stderr:   because: it has more than the 1048576 bytes that are read
        exit 2
    "#]],
    );
}
