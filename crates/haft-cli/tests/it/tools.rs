use crate::{check, haft};
use expect_test::expect;
use haft_testkit::Tree;

#[test]
fn lists_the_tools_with_their_arguments() {
    check(
        Tree::new().path(),
        &["tools"],
        expect![[r#"
            apply_patch  Changes, creates, removes and renames files by a patch: either the form that starts with `*** Begin Patch` and ends with `*** End Patch`, or a unified diff as git or diff write it.
                         patch
            bash         Runs a bash script and returns what it prints, stdout and stderr together, followed by its exit code.
                         command [description] [directory] [input] [timeout]
            edit_file    Changes parts of a text file by replacing exact texts.
                         path edits
            find_files   Finds files whose names are like a text, the best first: for when a name is only known in part.
                         query [hidden] [limit] [no_ignore] [path]
            glob         Finds files by their names, in the whole working directory unless `path` says otherwise.
                         pattern [hidden] [limit] [no_ignore] [path] [sort]
            grep         Searches the text of files with a regular expression, in the whole working directory unless `path` or `paths` says otherwise.
                         pattern [after] [before] [case] [context] [glob] [hidden] [limit] [literal] [mode] [multiline] [no_ignore] [offset] [path] [paths] [sort] [type]
            list_files   Lists a directory of the working directory as a tree with file sizes.
                         [depth] [hidden] [ignored] [limit] [path]
            outline      Outlines code: what a file defines, so that a large file is read by its shape and then only where it matters.
                         [depth] [glob] [hidden] [limit] [name] [no_ignore] [offset] [path] [role] [type]
            read_file    Reads a text file of the working directory, or several with `more`.
                         path [byte_range] [limit] [more] [offset]
            run_program  Runs one program with its arguments, without a shell: nothing in them is expanded, so that they need no quotes.
                         program [args] [description] [directory] [input] [timeout]
            web_fetch    Reads a page of the web by its address.
                         url [raw] [whole]
            write_file   Writes a whole file: creates it, with the directories above it, or replaces all of its content.
                         path content [create_only]

            Call one with `haft call NAME JSON`; `haft tools --json` prints everything a model is told.
            exit 0
        "#]],
    );
}

#[test]
fn prints_whole_specifications_as_json() {
    let output = haft(Tree::new().path(), &["tools", "--json"]).output().unwrap();
    let specs: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = specs.iter().filter_map(|spec| spec["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            "apply_patch",
            "bash",
            "edit_file",
            "find_files",
            "glob",
            "grep",
            "list_files",
            "outline",
            "read_file",
            "run_program",
            "web_fetch",
            "write_file"
        ]
    );
    assert!(specs.iter().all(|spec| spec["input_schema"]["type"] == "object"));
}

#[test]
fn colours_are_for_terminals_and_for_whoever_forces_them() {
    let tree = Tree::new();
    let has_colours = |variables: &[(&str, &str)]| {
        let mut command = haft(tree.path(), &["tools"]);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!has_colours(&[]));
    assert!(has_colours(&[("CLICOLOR_FORCE", "1")]));
    assert!(!has_colours(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}
