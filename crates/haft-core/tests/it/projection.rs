use expect_test::expect;
use haft_core::ToolName;
use proptest::collection::{hash_set, vec};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Projects texts and fails if two different ones become one name.
fn check_apart(texts: impl IntoIterator<Item = String>) -> Result<(), TestCaseError> {
    let mut names: HashMap<ToolName, String> = HashMap::new();
    for text in texts {
        let name = ToolName::project(&text);
        prop_assert_eq!(name.as_str().parse::<ToolName>(), Ok(name.clone()), "a projection is a name");
        if let Some(other) = names.insert(name.clone(), text.clone()) {
            prop_assert_eq!(other, text, "both became {}", name);
        }
    }
    Ok(())
}

#[test]
fn stays_as_it_is() {
    let texts = [
        "read_file",
        "",
        " ",
        "a b",
        "a.b",
        "a_b",
        "A-Z_0-9",
        "github/create issue",
        "naïve",
        "工具",
        "👩‍👩‍👧",
        "\0",
        &"x".repeat(64),
        &"x".repeat(65),
        &"x".repeat(5_000),
        &"ö".repeat(60),
        "tool_0123456789ab",
        "tool_0123456789AB",
        "tool_0123456789a",
        "tool_0123456789abc",
        "_0123456789ab",
        "0123456789ab",
        "cr_er_un_ticket_eebac1f5dbe7",
    ];
    let lines: Vec<_> = texts
        .iter()
        .map(|text| {
            let start: String = text.chars().take(20).collect();
            format!("{start:?} of {}: {}", text.chars().count(), ToolName::project(text))
        })
        .collect();
    expect![[r#"
        "read_file" of 9: read_file
        "" of 0: _e3b0c44298fc
        " " of 1: __36a9e7f1c95b
        "a b" of 3: a_b_c8687a08aa5d
        "a.b" of 3: a_b_2e7336dc8eba
        "a_b" of 3: a_b
        "A-Z_0-9" of 7: A-Z_0-9
        "github/create issue" of 19: github_create_issue_e85250d884ca
        "naïve" of 5: na_ve_f86fd89de87a
        "工具" of 2: ___5ca6730d4415
        "👩\u{200d}👩\u{200d}👧" of 5: ______81e8a05f6e8a
        "\0" of 1: __6e340b9cffb3
        "xxxxxxxxxxxxxxxxxxxx" of 64: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        "xxxxxxxxxxxxxxxxxxxx" of 65: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_9537c5fdf120
        "xxxxxxxxxxxxxxxxxxxx" of 5000: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_c59d3c0480cc
        "öööööööööööööööööööö" of 60: ____________________________________________________f0a791af6103
        "tool_0123456789ab" of 17: tool_0123456789ab_b808bb185a1f
        "tool_0123456789AB" of 17: tool_0123456789AB
        "tool_0123456789a" of 16: tool_0123456789a
        "tool_0123456789abc" of 18: tool_0123456789abc
        "_0123456789ab" of 13: _0123456789ab_7b8bce471e21
        "0123456789ab" of 12: 0123456789ab
        "cr_er_un_ticket_eeba" of 28: cr_er_un_ticket_eebac1f5dbe7_f97401313588
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn shortens_what_is_too_long() {
    let names = [
        "read_file",
        &"x".repeat(40),
        &"x".repeat(41),
        &"y".repeat(64),
        "tool_0123456789ab",
        "github__list_pull_request_review_comments",
        "github__list_pull_request_review_comment",
    ];
    let shortened = |name: &&str| name.parse::<ToolName>().unwrap().shortened(40).to_string();
    expect![[r#"
        read_file
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        xxxxxxxxxxxxxxxxxxxxxxxxxxx_3164596df4fd
        yyyyyyyyyyyyyyyyyyyyyyyyyyy_ffbf30ab9410
        tool_0123456789ab_b808bb185a1f
        github__list_pull_request_r_f5756b184605
        github__list_pull_request_review_comment
    "#]]
    .assert_eq(&(names.iter().map(shortened).collect::<Vec<_>>().join("\n") + "\n"));
}

#[test]
fn shortens_to_no_less_than_a_suffix_takes() {
    let name: ToolName = "read_a_file_of_mine".parse().unwrap();
    assert_eq!(name.shortened(0), name.shortened(14));
    assert_eq!(name.shortened(0).as_str().len(), 14);
    assert_eq!(name.shortened(1_000), name);
}

/// Texts that a projection without a suffix would make one name: they differ only in characters that are not allowed.
fn alike_when_sanitised() -> impl Strategy<Value = HashSet<String>> {
    "[a-z]{0,5}".prop_flat_map(|start| {
        hash_set("[ ./:é工\u{0}\u{200b}_]{1,4}", 2..12)
            .prop_map(move |ends| ends.into_iter().map(|end| format!("{start}{end}")).collect())
    })
}

/// Texts that are one up to where a name ends.
fn alike_up_to_the_end() -> impl Strategy<Value = HashSet<String>> {
    ("[a-zA-Z0-9_ é-]{48,70}", hash_set("[a-z0-9_]{0,20}", 2..12))
        .prop_map(|(start, ends)| ends.into_iter().map(|end| format!("{start}{end}")).collect())
}

/// A text and those that are one step away from it.
fn neighbours() -> impl Strategy<Value = HashSet<String>> {
    vec(any::<char>(), 1..70).prop_map(|characters| {
        let text: String = characters.iter().collect();
        let mut texts = HashSet::from([
            text.to_uppercase(),
            text.to_lowercase(),
            format!("{text} "),
            format!(" {text}"),
            format!("{text}_"),
            text.trim().to_owned(),
        ]);
        for at in 0..characters.len() {
            let mut shorter = characters.clone();
            shorter.remove(at);
            texts.insert(shorter.iter().collect());
            let mut changed = characters.clone();
            changed[at] = '_';
            texts.insert(changed.iter().collect());
        }
        texts.insert(text);
        texts
    })
}

proptest! {
    /// A valid name that does not end like a projection is its own projection.
    #[test]
    fn keeps_valid_names(text in "[A-Za-z0-9_-]{1,64}") {
        let looks_projected = text.len() >= 13 && {
            let suffix = &text[text.len() - 13..];
            suffix.starts_with('_')
                && suffix[1..].chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'))
        };
        prop_assert_eq!(ToolName::project(&text).as_str() == text, !looks_projected);
    }

    /// Any texts, among them valid names, become as many names.
    #[test]
    fn keeps_any_texts_apart(texts in hash_set(prop_oneof![any::<String>(), "\\PC{0,80}", "[a-z_]{1,3}"], 0..40)) {
        check_apart(texts)?;
    }

    /// Shortened names are short, are names, and are as many as there were; one that is short enough is left alone.
    #[test]
    fn keeps_shortened_names_apart(
        starts in hash_set("[a-z_]{20,50}", 1..4),
        ends in hash_set("[a-z0-9]{0,14}|_[0-9a-f]{12}", 1..12),
        most in 14_usize..=64,
    ) {
        let mut names: HashSet<ToolName> =
            starts.iter().flat_map(|start| ends.iter().map(move |end| format!("{start}{end}"))).filter_map(|name| name.parse().ok()).collect();
        // Whoever takes what another is shortened to for their own name gets another name.
        names.extend(names.iter().map(|name| name.shortened(most)).collect::<Vec<_>>());
        let mut shortened = HashSet::new();
        for name in &names {
            let short = name.shortened(most);
            prop_assert!(short.as_str().len() <= most);
            prop_assert_eq!(short.as_str().parse::<ToolName>(), Ok(short.clone()));
            shortened.insert(short);
        }
        prop_assert_eq!(shortened.len(), names.len());
    }

    /// Texts that look alike once sanitised become as many names.
    #[test]
    fn keeps_sanitised_texts_apart(texts in alike_when_sanitised()) {
        check_apart(texts)?;
    }

    /// Texts that look alike once shortened become as many names.
    #[test]
    fn keeps_shortened_texts_apart(texts in alike_up_to_the_end()) {
        check_apart(texts)?;
    }

    /// A text and all its neighbours become as many names.
    #[test]
    fn keeps_neighbours_apart(texts in neighbours()) {
        check_apart(texts)?;
    }

    /// Whoever takes the projection of another text for their own name gets another name, however often they try.
    #[test]
    fn keeps_crafted_names_apart(text in prop_oneof![any::<String>(), "[a-z]{1,60}_[0-9a-f]{12}"]) {
        let mut texts = vec![text];
        for _ in 0..6 {
            let crafted = ToolName::project(&texts[texts.len() - 1]);
            if texts.last().is_some_and(|last| last == crafted.as_str()) {
                break;
            }
            texts.push(crafted.to_string());
        }
        let distinct: HashSet<_> = texts.iter().collect();
        prop_assert_eq!(distinct.len(), texts.len());
        check_apart(texts)?;
    }
}
