use crate::fixture::{anything, outline, reply, resource, scope};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{Content, ToolError, ToolHints, ToolName, ToolOutput};
use haft_tools_core::{
    Access, AccessMode, Accesses, CallContext, CallScope, LocalExecutor, Policy, RawOutput, Rule, Tool,
    ToolRegistry, Typed, TypedOutput, TypedTool, parse_input, tool_fn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Slice {
    /// The file to read.
    path: String,
    /// The first line, from 1.
    start: Option<u32>,
    #[serde(default)]
    tags: Vec<Tag>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Tag {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

/// Calls a tool that parses its input into `I` and gives it back as text.
async fn check<I>(input: Value, expect: Expect)
where
    I: for<'de> Deserialize<'de> + std::fmt::Debug + JsonSchema + Send + Sync + 'static,
{
    let tool = tool_fn("t", "Tells its input.", Accesses::none(), |input: I, _: CallContext| async move {
        Ok::<_, ToolError>(format!("{input:?}"))
    });
    expect.assert_eq(&outline(&reply(&allowed(tool.unwrap()), "t", input).await));
}

fn allowed(tool: impl Tool) -> LocalExecutor {
    LocalExecutor::builder(ToolRegistry::new().with(tool).unwrap()).policy(anything()).build()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by `Debug`")]
struct Numbers {
    small: Option<u8>,
    large: Option<i64>,
    real: Option<f64>,
    any: Option<Value>,
    many: Option<Vec<u8>>,
}

#[tokio::test]
async fn whole_numbers_are_taken_however_they_are_written() {
    check::<Numbers>(
        json!({ "small": 5.0, "many": [1.0, 2] }),
        expect![[r#"
        ok
        Numbers { small: Some(5), large: None, real: None, any: None, many: Some([1, 2]) }"#]],
    )
    .await;
    check::<Numbers>(
        json!({ "large": -9_007_199_254_740_992.0_f64, "real": 5 }),
        expect![[r#"
        ok
        Numbers { small: None, large: Some(-9007199254740992), real: Some(5.0), any: None, many: None }"#]],
    )
    .await;
    check::<Numbers>(json!({ "small": 5.0, "real": 0.5, "any": { "a": 1.0 } }), expect![[r#"
        ok
        Numbers { small: Some(5), large: None, real: Some(0.5), any: Some(Object {"a": Number(1)}), many: None }"#]]).await;
    check::<Numbers>(
        json!({ "many": [1, 1e30] }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at `/many/1`: 1e+30 is greater than the maximum of 255
        correct them and call the tool again"#]],
    )
    .await;
    // The one that is taken is not the one that is wrong.
    check::<Numbers>(json!({ "small": 5.0, "large": 1e300 }), expect![[r#"
        error: invalid input
        the arguments do not fit at `/large`: invalid type: floating point `1e+300`, expected i64; correct them and call the tool again"#]]).await;
    check::<Numbers>(
        json!({ "small": 5.5 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at `/small`: 5.5 is not an integer or null
        correct them and call the tool again"#]],
    )
    .await;
    check::<Numbers>(
        json!({ "small": 256 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at `/small`: 256 is greater than the maximum of 255
        correct them and call the tool again"#]],
    )
    .await;
    check::<Numbers>(
        json!({ "small": -1 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at `/small`: -1 is less than the minimum of 0
        correct them and call the tool again"#]],
    )
    .await;
    check::<Numbers>(
        json!({ "many": [1, 2, 300] }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at `/many/2`: 300 is greater than the maximum of 255
        correct them and call the tool again"#]],
    )
    .await;
}

#[tokio::test]
async fn nested_types_are_described_to_the_model() {
    check::<Slice>(
        json!({ "path": "a", "tags": [{ "name": "b", "colour": 1 }] }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at `/tags/0`: unknown property `colour`; it takes `name`
        correct them and call the tool again"#]],
    )
    .await;
    check::<Slice>(
        json!({ "path": "a", "tags": [{ "nam": "b" }] }),
        expect![[r#"
            error: invalid input
            the arguments do not fit `t`:
            - at `/tags/0`: unknown property `nam`; did you mean `name`?
            - at `/tags/0`: the property `name` is missing
            correct them and call the tool again"#]],
    )
    .await;
    check::<Slice>(json!({ "path": "a", "start": "5", "tags": { "name": "b" } }), expect![[r#"
        ok
        Slice { path: "a", start: Some(5), tags: [Tag { name: "b" }] }
        [the arguments were changed: /start: took a string as the value it spells ("5" → 5); /tags: took a single value as a list of one ({"name":"b"} → [{"name":"b"}])]"#]]).await;
    check::<Slice>(
        json!({ "path": "a", "strat": 5 }),
        expect![[r#"
        error: invalid input
        the arguments do not fit `t`:
        - at the top: unknown property `strat`; did you mean `start`?
        correct them and call the tool again"#]],
    )
    .await;
}

/// Accepts less than its schema says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "u8")]
struct Even(#[expect(dead_code, reason = "read by `Debug`")] u8);

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        if number.is_multiple_of(2) {
            Ok(Self(number))
        } else {
            Err(format!("{number} is odd; give an even number"))
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by `Debug`")]
struct Pair {
    even: Even,
}

#[tokio::test]
async fn what_a_type_refuses_is_answered_in_its_words() {
    check::<Pair>(
        json!({ "even": 4.0 }),
        expect![[r#"
        ok
        Pair { even: Even(4) }"#]],
    )
    .await;
    check::<Pair>(
        json!({ "even": 3 }),
        expect![[r#"
            error: invalid input
            the arguments do not fit at `/even`: 3 is odd; give an even number; correct them and call the tool again"#]],
    )
    .await;
    let unchecked = parse_input::<Numbers>(&json!({ "small": 256 })).unwrap_err();
    expect!["the arguments do not fit at `/small`: invalid value: integer `256`, expected u8; correct them and call the tool again"].assert_eq(unchecked.message());
}

/// Calls a tool with this result, and prints the parts the model reads, the structured result and the output schema.
async fn check_output<O: TypedOutput + 'static>(result: fn() -> O, expect: Expect) {
    let tool = tool_fn("t", "Gives it.", Accesses::none(), move |_: Nothing, _: CallContext| {
        std::future::ready(Ok::<_, ToolError>(result()))
    })
    .unwrap();
    let schema = tool.spec().output_schema().map(|schema| schema.as_value().to_string());
    let output = reply(&allowed(tool), "t", json!({})).await.output;
    expect.assert_eq(&format!("{:?}\n{:?}\n{schema:?}", output.content, output.structured));
}

#[tokio::test]
async fn an_output_that_a_typed_tool_made_itself_stays_as_it_is() {
    let parts = || RawOutput::from(ToolOutput::new(vec![Content::text("one"), Content::text("two")]));
    check_output(
        parts,
        expect![[r#"
        [Text { text: "one" }, Text { text: "two" }]
        None
        None"#]],
    )
    .await;
}

#[tokio::test]
async fn a_result_is_text_or_json_and_an_object_is_structured_too() {
    check_output(
        || "text",
        expect![[r#"
        [Text { text: "text" }]
        None
        None"#]],
    )
    .await;
    check_output(
        || 5,
        expect![[r#"
        [Json { value: Number(5) }]
        None
        None"#]],
    )
    .await;
    check_output(|| Tag { name: "a".to_owned() }, expect![[r#"
        [Json { value: Object {"name": String("a")} }]
        Some(Object {"name": String("a")})
        Some("{\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"],\"type\":\"object\"}")"#]]).await;
    check_output(
        || vec![1, 2],
        expect![[r#"
        [Json { value: Array [Number(1), Number(2)] }]
        None
        None"#]],
    )
    .await;
    check_output(
        || (),
        expect![[r#"
        [Json { value: Null }]
        None
        None"#]],
    )
    .await;
    check_output(
        || None::<Tag>,
        expect![[r#"
        [Json { value: Null }]
        None
        None"#]],
    )
    .await;
    check_output(
        || Some(Tag { name: "a".to_owned() }),
        expect![[r#"
        [Json { value: Object {"name": String("a")} }]
        Some(Object {"name": String("a")})
        None"#]],
    )
    .await;
}

#[tokio::test]
async fn a_result_that_is_no_json_is_a_fault_of_the_tool() {
    let tool = tool_fn("t", "Gives it.", Accesses::none(), |_: Nothing, _: CallContext| {
        std::future::ready(Ok::<_, ToolError>(Unwritable))
    });
    expect![[r#"
        error: failed
        the tool's result cannot be written as JSON; this is a fault of the tool, so try another way"#]]
    .assert_eq(&outline(&reply(&allowed(tool.unwrap()), "t", json!({})).await));
}

#[derive(JsonSchema)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("at /home/me"))
    }
}

#[tokio::test]
async fn a_function_can_declare_by_the_input() {
    let tool = tool_fn(
        "read",
        "Reads.",
        |input: &Slice| match input.path.as_str() {
            "" => Err(ToolError::invalid_input("the path is empty; name a file")),
            path => Ok(Accesses::from(Access::read(resource(&format!("file:{path}"))))),
        },
        |input: Slice, _: CallContext| async move { Ok::<_, ToolError>(input.path) },
    );
    let policy = Policy::new().allow(Rule::access(AccessMode::Read, resource("file:src/**")));
    let executor =
        LocalExecutor::builder(ToolRegistry::new().with(tool.unwrap()).unwrap()).policy(policy).build();
    let check = async |path: &str, expect: Expect| {
        expect.assert_eq(&outline(&reply(&executor, "read", json!({ "path": path })).await));
    };
    check(
        "src/lib.rs",
        expect![[r#"
        ok
        src/lib.rs"#]],
    )
    .await;
    check("etc/passwd", expect![[r#"
        denied
        this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"#]]).await;
    check(
        "",
        expect![[r#"
        error: invalid input
        the path is empty; name a file"#]],
    )
    .await;
}

#[test]
fn a_name_that_is_none_is_refused() {
    let tool = tool_fn("read file", "Reads.", Accesses::none(), |_: Nothing, _: CallContext| async {
        Ok::<_, ToolError>("")
    });
    expect![[r#"the tool name "read file" holds ' '; use letters, digits, `_` and `-` only"#]]
        .assert_eq(&tool.unwrap_err().to_string());
}

struct Read;

#[async_trait]
impl TypedTool for Read {
    type Input = Slice;
    type Output = Tag;

    fn name(&self) -> ToolName {
        ToolName::project("read")
    }

    fn description(&self) -> String {
        "Reads.".to_owned()
    }

    fn hints(&self) -> ToolHints {
        ToolHints { read_only: true, ..ToolHints::default() }
    }

    fn accesses(&self, input: &Slice, scope: &CallScope) -> Result<Accesses, ToolError> {
        Ok(Accesses::from(Access::read(resource(&format!("file:{}/{}", scope.run(), input.path)))))
    }

    async fn run(&self, input: Slice, cx: CallContext) -> Result<Tag, ToolError> {
        Ok(Tag { name: format!("{} by {} as {}", input.path, cx.tool_name(), cx.call_id()) })
    }
}

#[tokio::test]
async fn a_typed_tool_is_a_tool() {
    let tool = Typed::new(Read).map_spec(|spec| spec.with_title("Read"));
    expect![[r##"{"name":"read","title":"Read","description":"Reads.","input_schema":{"$defs":{"Tag":{"additionalProperties":false,"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}},"additionalProperties":false,"properties":{"path":{"description":"The file to read.","type":"string"},"start":{"description":"The first line, from 1.","format":"uint32","minimum":0,"type":["integer","null"]},"tags":{"default":[],"items":{"$ref":"#/$defs/Tag"},"type":"array"}},"required":["path"],"type":"object"},"output_schema":{"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"},"hints":{"read_only":true,"destructive":false,"idempotent":false,"open_world":false,"streaming":false},"origin":{"kind":"host"},"exposure":"direct","explicit":false}"##]].assert_eq(&serde_json::to_string(tool.spec()).unwrap());
    let prepared = tool.prepare(&json!({ "path": "a" }), &scope()).unwrap();
    assert_eq!(
        prepared.accesses().iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["read file:run-1/a"]
    );
    expect![[r#"
        ok
        {"name":"a by read as c1"}"#]]
    .assert_eq(&outline(&reply(&allowed(tool), "read", json!({ "path": "a" })).await));
}
