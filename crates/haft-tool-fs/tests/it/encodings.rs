//! Texts in encodings of before, and bytes that texts seldom have.

use crate::fixture::{run, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use serde_json::{Value, json};

/// Chinese in GB18030, with a character of four bytes in its second line.
fn gb18030() -> Vec<u8> {
    let lines = ["第一行：这是一个中文文本文件。", "第二行：用于测试编码检测，㐀。", "第三行：结束。", ""];
    lines.map(encoding).join(&b'\n')
}

fn encoding(text: &str) -> Vec<u8> {
    let (bytes, _, is_lossy) = encoding_rs::GB18030.encode(text);
    assert!(!is_lossy);
    bytes.into_owned()
}

fn check(content: &[u8], tool: &str, input: Value, reply: &Expect, after: &[u8]) {
    let tree = Tree::new().bytes("a", content);
    reply.assert_eq(&shown(&run(&tree, tool, input)).replace('\0', "{zero}"));
    assert_eq!(tree.read_bytes("a").escape_ascii().to_string(), after.escape_ascii().to_string());
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "a", "edits": [{ "old": old, "new": new }] })
}

/// What a file is once a part of it is another.
fn replaced(content: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = memchr::memmem::find(content, old).unwrap();
    [&content[..at], new, &content[at + old.len()..]].concat()
}

#[test]
fn gb18030_is_read_and_edited() {
    let file = gb18030();
    check(
        &file,
        "read_file",
        json!({ "path": "a" }),
        &expect![[r"
        ok
        a: 3 lines, 79 bytes, gb18030
        1	第一行：这是一个中文文本文件。
        2	第二行：用于测试编码检测，㐀。
        3	第三行：结束。
    "]],
        &file,
    );
    let after = replaced(&file, &encoding("一个"), &encoding("一份"));
    check(
        &file,
        "edit_file",
        edit("一个", "一份"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:d7d3b0486940, written as gb18030
        @@ -1,3 +1,3 @@
        -第一行：这是一个中文文本文件。
        +第一行：这是一份中文文本文件。
         第二行：用于测试编码检测，㐀。
         第三行：结束。
    "]],
        &after,
    );
    // A character that is not in the file, of four bytes too.
    let after = replaced(&file, &encoding("结束"), &encoding("结束\u{1f600}"));
    check(
        &file,
        "edit_file",
        edit("结束", "结束\u{1f600}"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:d051fb5f53df, written as gb18030
        @@ -1,3 +1,3 @@
         第一行：这是一个中文文本文件。
         第二行：用于测试编码检测，㐀。
        -第三行：结束。
        +第三行：结束😀。
    "]],
        &after,
    );
}

#[test]
fn what_gbk_does_not_have_is_refused() {
    let file = encoding("第一行：这是一个中文文本文件，用于测试编码检测。\n");
    check(
        &file,
        "edit_file",
        edit("一个", "\u{1f600}"),
        &expect![[r"
        error: invalid input
        `a` was not changed: the file is in GBK, which does not have the character U+1F600 that the new text has near line 1; write it another way, or convert the file with a command such as `iconv` first
    "]],
        &file,
    );
    let after = replaced(&file, &encoding("一个"), &encoding("一份"));
    check(
        &file,
        "edit_file",
        edit("一个", "一份"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:d13c536c40ea, written as GBK
        @@ -1 +1 @@
        -第一行：这是一个中文文本文件，用于测试编码检测。
        +第一行：这是一份中文文本文件，用于测试编码检测。
    "]],
        &after,
    );
}

#[test]
fn zero_bytes_are_kept_found_and_written() {
    let file = b"one\0two\nthree\n";
    check(
        file,
        "edit_file",
        edit("three", "3"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:d8fa15b1444f
        @@ -1,2 +1,2 @@
         one{zero}two
        -three
        +3
    "]],
        b"one\0two\n3\n",
    );
    check(
        file,
        "edit_file",
        edit("one\0two", "1\0\x002"),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:8bbfb6324e03
        @@ -1,2 +1,2 @@
        -one{zero}two
        +1{zero}{zero}2
         three
    "]],
        b"1\0\x002\nthree\n",
    );
    check(
        file,
        "edit_file",
        edit("one\0", ""),
        &expect![[r"
        ok
        edited `a`: 1 replacement, sha256:f3952ccd5acb
        @@ -1,2 +1,2 @@
        -one{zero}two
        +two
         three
    "]],
        b"two\nthree\n",
    );
    check(
        file,
        "edit_file",
        edit("one two", "1"),
        &expect![[r"
            error: invalid input
            `a` was not changed: `old` does not occur in it; the nearest is line 1 (shown as → tab, · blank, ⍽ other blank, ␍ carriage return):
            1	one␀two
            write the old text as it is there, with blanks for ·, or read the file around it, then call `edit_file` again
        "]],
        file,
    );
    let patch = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\0two\n-three\n+3\0\n";
    check(
        file,
        "apply_patch",
        json!({ "patch": patch }),
        &expect![[r"
        ok
        applied to 1 file:
        changed `a`, 1 hunk, sha256:c18bd5951550
    "]],
        b"one\0two\n3\0\n",
    );
}
