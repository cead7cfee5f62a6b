use super::check;
use expect_test::expect;

#[test]
fn tools_of_the_known_format_are_those_that_do_the_same() {
    check(
        "tools: Read, Write, Edit, MultiEdit, Glob, Grep, LS, Bash(*), WebFetch, Task, Agent, TodoWrite, AskUserQuestion",
        expect![[r#"
            reader: Finds things.
            You look.
            tools: read_file, write_file, edit_file, glob, grep, list_files, bash, web_fetch, delegate, update_plan, ask_user
            a.md:4: `Read` in `tools` is `read_file` here (Mapped)
            a.md:4: `Write` in `tools` is `write_file` here (Mapped)
            a.md:4: `Edit` in `tools` is `edit_file` here (Mapped)
            a.md:4: `MultiEdit` in `tools` is `edit_file` here (Mapped)
            a.md:4: `Glob` in `tools` is `glob` here (Mapped)
            a.md:4: `Grep` in `tools` is `grep` here (Mapped)
            a.md:4: `LS` in `tools` is `list_files` here (Mapped)
            a.md:4: `Bash(*)` in `tools` is `bash` here (Mapped)
            a.md:4: `WebFetch` in `tools` is `web_fetch` here (Mapped)
            a.md:4: `Task` in `tools` is `delegate` here (Mapped)
            a.md:4: `Agent` in `tools` is `delegate` here (Mapped)
            a.md:4: `TodoWrite` in `tools` is `update_plan` here (Mapped)
            a.md:4: `AskUserQuestion` in `tools` is `ask_user` here (Mapped)"#]],
    );
}

#[test]
fn tools_without_a_counterpart_choose_nothing() {
    check(
        "tools: WebSearch",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: !*
        a.md:4: `WebSearch` in `tools` means nothing here: no tool of haft does the same (Ignored)"#]],
    );
    check(
        "tools: NotebookRead, !bash",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: !*, !bash
        a.md:4: `NotebookRead` in `tools` means nothing here: no tool of haft does the same (Ignored)"#]],
    );
    check(
        "tools: []",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: !*"#]],
    );
    check(
        "disallowedTools: WebSearch",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: *
        a.md:4: `!WebSearch` in `disallowedTools` means nothing here: no tool of haft does the same (Ignored)"#]],
    );
}

#[test]
fn what_is_left_out_is_all_that_does_the_same() {
    check(
        "disallowedTools: Write, Edit, Bash",
        expect![[r#"
            reader: Finds things.
            You look.
            tools: !write_file, !apply_patch, !copy, !move, !delete, !make_directory, !edit_file, !bash, !run_program
            a.md:4: `!Write` in `disallowedTools` is `!write_file`, `!apply_patch`, `!copy`, `!move`, `!delete` and `!make_directory` here (Mapped)
            a.md:4: `!Edit` in `disallowedTools` is `!edit_file` and `!apply_patch` here (Mapped)
            a.md:4: `!Bash` in `disallowedTools` is `!bash` and `!run_program` here (Mapped)"#]],
    );
    check(
        "disallowedTools:\n  - NotebookEdit\n  - NotebookRead\n  - ExitPlanMode",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: !edit_file, !apply_patch, !read_file, !request_mode
        a.md:4: `!NotebookEdit` in `disallowedTools` is `!edit_file` and `!apply_patch` here (Mapped)
        a.md:4: `!NotebookRead` in `disallowedTools` is `!read_file` here (Mapped)
        a.md:4: `!ExitPlanMode` in `disallowedTools` is `!request_mode` here (Mapped)"#]],
    );
    check(
        "tools: read_*, !Write",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: read_*, !write_file, !apply_patch, !copy, !move, !delete, !make_directory
        a.md:4: `!Write` in `tools` is `!write_file`, `!apply_patch`, `!copy`, `!move`, `!delete` and `!make_directory` here (Mapped)"#]],
    );
    check(
        "tools: Edit, MultiEdit, !Edit, Edit",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: edit_file, !edit_file, !apply_patch, edit_file
        a.md:4: `Edit` in `tools` is `edit_file` here (Mapped)
        a.md:4: `MultiEdit` in `tools` is `edit_file` here (Mapped)
        a.md:4: `!Edit` in `tools` is `!edit_file` and `!apply_patch` here (Mapped)"#]],
    );
    check(
        "disallowedTools: '!bash'",
        expect![
            "a.md:4: `disallowedTools` has `!bash`, which says twice that a tool is left out; write it without the `!`"
        ],
    );
    check(
        "disallowedTools: '@github, read_*'",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: !@github, !read_*"#]],
    );
}

#[test]
fn tools_of_servers_are_chosen_by_their_exact_names() {
    check(
        "tools: mcp__github__create_issue, mcp__github__list_*, mcp__jira, mcp__slack__*",
        expect![[r#"
            reader: Finds things.
            You look.
            tools: @github/create_issue, @github/list_*, @jira, @slack
            a.md:4: `mcp__github__create_issue` in `tools` is `@github/create_issue` here (Mapped)
            a.md:4: `mcp__github__list_*` in `tools` is `@github/list_*` here (Mapped)
            a.md:4: `mcp__jira` in `tools` is `@jira` here (Mapped)
            a.md:4: `mcp__slack__*` in `tools` is `@slack` here (Mapped)"#]],
    );
    check(
        "tools: mcp__*\ndisallowedTools: mcp__github__delete_repository",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: @mcp, !@github/delete_repository
        a.md:4: `mcp__*` in `tools` is `@mcp` here (Mapped)
        a.md:5: `!mcp__github__delete_repository` in `disallowedTools` is `!@github/delete_repository` here (Mapped)"#]],
    );
    check(
        "tools: mcp__host__deploy",
        expect![
            "a.md:4: `tools` has `mcp__host__deploy`, which names no server of which it could be told; write the name that the tool has here, such as `server__tool`"
        ],
    );
    check(
        "tools: mcp__git*__x",
        expect![
            "a.md:4: `tools` has `mcp__git*__x`, which names no server of which it could be told; write the name that the tool has here, such as `server__tool`"
        ],
    );
    check(
        "tools: mcp__",
        expect![
            "a.md:4: `tools` has `mcp__`, which names no server of which it could be told; write the name that the tool has here, such as `server__tool`"
        ],
    );
}

#[test]
fn what_holds_for_some_calls_of_a_tool_is_refused() {
    check(
        "tools: Read, Bash(git diff:*, git log)",
        expect![
            "a.md:4: `tools` has `Bash(git diff:*, git log)`: which calls of a tool are let run is not said here; write `Bash`, and let rules of the policy say which commands it may run, such as `exec(git status *)`"
        ],
    );
    check(
        "tools: Agent(worker, researcher), Read",
        expect![
            "a.md:4: `tools` has `Agent(worker, researcher)`: which calls of a tool are let run is not said here; leave out the brackets, and let a rule of the policy say which agents it may start"
        ],
    );
    check(
        "disallowedTools: Bash(rm *)",
        expect![
            "a.md:4: `disallowedTools` has `Bash(rm *)`: which calls of a tool are let run is not said here; write `Bash`, and let rules of the policy say which commands it may run, such as `exec(git status *)`"
        ],
    );
    check(
        "tools: WebFetch(domain:example.org)",
        expect![
            "a.md:4: `tools` has `WebFetch(domain:example.org)`: which calls of a tool are let run is not said here; write the tool alone, and let rules of the policy say what it may do"
        ],
    );
    check(
        "tools: Read(",
        expect![
            "a.md:4: `tools` has `Read(`: which calls of a tool are let run is not said here; write the tool alone, and let rules of the policy say what it may do"
        ],
    );
}

#[test]
fn names_that_are_not_known_choose_what_is_called_so_and_leave_out_nothing_silently() {
    check(
        "tools: Reed, Deploy, my_tool",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: Reed, Deploy, my_tool
        a.md:4: `Reed` in `tools` is not known (did you mean `Read`?), and chooses a tool of the host of exactly that name (Unknown)
        a.md:4: `Deploy` in `tools` is not known, and chooses a tool of the host of exactly that name (Unknown)"#]],
    );
    check(
        "disallowedTools: PowerShell",
        expect![
            "a.md:4: `disallowedTools` leaves out `PowerShell`, of which it is not known what does the same here; name the tools of haft that the agent is not to have"
        ],
    );
    check(
        "tools: '!PowerShell'",
        expect![
            "a.md:4: `tools` leaves out `PowerShell`, of which it is not known what does the same here; name the tools of haft that the agent is not to have"
        ],
    );
    check(
        "tools: read/file",
        expect![
            "a.md:4: `tools` is not read: `read/file` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
}
