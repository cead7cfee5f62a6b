use super::{Read, read};
use expect_test::{Expect, expect};
use serde_json::Value;
use std::fmt::Write as _;

fn read_all(text: &str) -> Result<Read, crate::LoadError> {
    read(text, 1 << 24, 100_000)
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    let shown = match read_all(text) {
        Ok(Read { value, outward, repeated, .. }) => {
            let mut shown = value.to_string();
            if !outward.is_empty() || !repeated.is_empty() {
                let _ = write!(shown, " outward {outward:?} repeated {repeated:?}");
            }
            shown
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn yaml_keeps_what_looks_like_something_else() {
    check(
        "a: Y\nb: N\nc: 02894\nd: no\ne: 1e3\nf: .inf\ng: 123456789012345678901234567890\nh: ~\ni: 1.10\nj: 2024-01-01\nk: 0x1F\nl: !!str 5\nm: !own { n: 1 }",
        &expect![[
            r#"{"a":"Y","b":"N","c":"02894","d":"no","e":1000.0,"f":"inf","g":1.2345678901234568e+29,"h":null,"i":1.1,"j":"2024-01-01","k":31,"l":"5","m":{"n":1}}"#
        ]],
    );
}

#[test]
fn keys_are_texts_as_they_are_written() {
    check(
        "responses:\n  200: a\n  default: b\n  4.0: c\n  null: d\n  on: e",
        &expect![[r#"{"responses":{"200":"a","default":"b","null":"d","on":"e"}}"#]],
    );
    check(
        "? [a]\n: 1",
        &expect![
            "cannot read the document: invalid type: sequence, expected a key that is not a list or object at line 1 column 3"
        ],
    );
}

#[test]
fn merge_keys_are_merged_and_own_members_count() {
    check(
        "x: &x { a: 1, b: 2 }\ny: &y { a: 9, c: 9 }\nz: { <<: [*x, *y], b: 3 }\nw: { <<: *x }",
        &expect![[r#"{"w":{"a":1,"b":2},"x":{"a":1,"b":2},"y":{"a":9,"c":9},"z":{"a":1,"b":3,"c":9}}"#]],
    );
    check(
        "z: { <<: 3 }",
        &expect!["cannot read the document: z: `<<` takes objects only at line 1 column 4"],
    );
}

#[test]
fn a_key_that_stands_twice_is_refused_in_yaml_and_said_in_json() {
    check("a: 1\na: 2", &expect!["cannot read the document: a key stands twice in one object"]);
    check(r#"{"a": 1, "a": 2}"#, &expect![[r#"{"a":2} outward [] repeated ["a"]"#]]);
}

#[test]
fn a_byte_order_mark_and_flow_yaml_are_read() {
    check("\u{feff}{\"a\": 1}", &expect![[r#"{"a":1}"#]]);
    check("{a: b, c: [d]}", &expect![[r#"{"a":"b","c":["d"]}"#]]);
    check(r#"{"a": 1,"#, &expect!["cannot read the document: EOF while parsing a value at line 1 column 8"]);
    check("", &expect!["null"]);
}

#[test]
fn references_out_of_the_document_are_noted() {
    check(
        r##"{"$ref": "other.yaml#/a", "b": {"$ref": "#/c"}, "c": {"$ref": "other.yaml#/d"}}"##,
        &expect![[
            r##"{"$ref":"other.yaml#/a","b":{"$ref":"#/c"},"c":{"$ref":"other.yaml#/d"}} outward ["other.yaml"] repeated []"##
        ]],
    );
}

#[test]
fn long_examples_and_extensions_are_passed_over_and_properties_of_their_names_are_not() {
    check(
        r#"{
            "x-root": {"a": {"example": {"gone": 1}}},
            "components": {"schemas": {"example": {"properties": {"example": {"type": "string", "example": {"gone": 1}},
                "x-y": {"examples": [1, 2, {"gone": 1}, 3, 4]}, "links": {"example": "short"}},
                "default": {"example": {"kept": 1}}, "x-mcp": {"on": 1}, "x-other": {"gone": 1}, "x-short": true}}},
            "paths": {"/a": {"get": {"security": [{"x-api-key": []}], "callbacks": {"gone": 1},
                "parameters": [{"name": "a", "example": {"gone": 1}}]}}}
        }"#,
        &expect![[
            r#"{"components":{"schemas":{"example":{"default":{"example":{"kept":1}},"properties":{"example":{"type":"string"},"links":{"example":"short"},"x-y":{"examples":[1,2,3]}},"x-mcp":{"on":1},"x-short":true}}},"paths":{"/a":{"get":{"parameters":[{"name":"a"}],"security":[{"x-api-key":[]}]}}},"x-root":{"a":{}}}"#
        ]],
    );
}

#[test]
fn bombs_are_refused() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        let _ = writeln!(laughs, "a{level}: &a{level} [{below}]");
    }
    check(
        &laughs,
        &expect![
            "cannot read the document: a5[0][3][3][7][2]: it has more values than are read at line 1 column 5"
        ],
    );
    check("a: &a [*a]", &expect!["cannot read the document: recursion limit exceeded at line 1 column 4"]);
    check(
        &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        &expect!["cannot read the document: recursion limit exceeded at line 1 column 128"],
    );
    check(
        &format!("a: {}", "[".repeat(100_000)),
        &expect!["cannot read the document: it has more than 500 brackets open at once"],
    );
    check(
        &"- ".repeat(20_000),
        &expect!["cannot read the document: recursion limit exceeded at line 1 column 257"],
    );
    check(
        &"? ".repeat(20_000),
        &expect![
            "cannot read the document: invalid type: map, expected a key that is not a list or object at line 1 column 3"
        ],
    );
    check(
        &format!("[{}0]", "0,".repeat(100_001)),
        &expect!["cannot read the document: it has more values than are read at line 1 column 199999"],
    );
    assert!(read("[1, 2, 3]", 5, 10).is_err());
}

#[test]
fn a_value_that_somebody_else_has_read_has_the_same_limits() {
    let mut deep = Value::Null;
    for _ in 0..200 {
        deep = Value::Array(vec![deep]);
    }
    assert!(super::adopt(deep, 1000).is_err());
    assert!(super::adopt(Value::Array(vec![Value::Null; 100]), 50).is_err());
}

#[test]
fn aliases_count_as_what_they_stand_for() {
    let long = "s".repeat(1 << 20);
    check(
        &format!("x: &a \"{long}\"\ny:\n{}", "- *a\n".repeat(1_000)),
        &expect!["cannot read the document: y[14]: its texts are larger than is read at line 1 column 4"],
    );
    check(
        &format!("x: &a\n  ? \"{long}\"\n  : 1\ny:\n{}", "- *a\n".repeat(1_000)),
        &expect!["cannot read the document: y[14]: its texts are larger than is read at line 1 column 4"],
    );
    let Read { nodes, bytes, .. } = read_all("a: &a { b: cd }\ne: *a").unwrap();
    assert_eq!((nodes, bytes), (5, 8));
}

#[test]
fn brackets_within_texts_open_nothing() {
    let text = format!("d: |\n{}", "  a value in [0, 1)\n".repeat(2_000));
    assert!(read_all(&text).is_ok());
    for begin in
        ["[", "{a: ", "[!a ", "[&a ", "[!a-b,c ", "{\"a\":!b ", "[\u{2028}", "[ # c\n", "[!a\u{85}", "[? "]
    {
        let text = format!("a: {}", begin.repeat(100_000));
        assert!(super::has_many_open(&text), "{begin}");
    }
}

#[test]
fn many_references_out_of_the_document_are_each_kept_once_and_no_more_than_a_bound() {
    let list: Vec<Value> = (0..40_000).map(|one| serde_json::json!({ "$ref": one.to_string() })).collect();
    assert_eq!(read_all(&Value::from(list.clone()).to_string()).unwrap().outward.len(), 10_000);
    assert_eq!(super::adopt(list.into(), 100_000).unwrap().outward.len(), 10_000);
}

#[test]
fn a_file_that_is_a_list_of_schemas_keeps_those_with_any_name() {
    let read = super::read_file(
        r#"{"links": {"type": "object"}, "example": {"a": {}}, "x-long": {"a": 1}}"#,
        1000,
        100,
    );
    expect![[r#"{"example":{"a":{}},"links":{"type":"object"}}"#]]
        .assert_eq(&read.unwrap().value.to_string());
}
