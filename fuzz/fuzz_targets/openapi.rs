//! OpenAPI documents: what is read is read the same again, every schema compiles, and no request leaves its place.
#![no_main]

use haft::core::ToolName;
use haft::openapi::{Document, LoadOptions};
use haft::tools_core::CompiledSchema;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// Where every request goes, whatever a document says.
const BASE: &str = "https://api.example/v1";

fn document(text: &str) -> Option<Document> {
    Document::from_text(text, &LoadOptions::default().server(BASE)).ok()
}

// The document, and behind a line of `---` the arguments that each operation is given.
fuzz_target!(|text: &str| {
    let (text, arguments) = text.split_once("\n---\n").unwrap_or((text, ""));
    let Some(read) = document(text) else { return };
    let names: Vec<ToolName> = read.operations().map(|operation| operation.name().clone()).collect();
    assert!(names.is_sorted_by(|one, next| one < next), "each name stands for one operation: {names:?}");
    let again = document(text).expect("it was read before");
    assert!(
        again.operations().map(|operation| operation.name().clone()).eq(names),
        "it is read the same again"
    );
    let arguments: Value =
        serde_json::from_str(arguments).unwrap_or_else(|_| json!({ "id": "../../x?y#z", "body": {} }));
    for operation in read.operations().take(8) {
        let schema = operation.input_schema();
        let value = schema.schema().as_value().clone();
        assert!(value.is_object());
        if let Err(reason) = CompiledSchema::compile(value.clone()) {
            panic!("the schema of `{}` is none: {reason}: {value}", operation.name());
        }
        for arguments in [&arguments, &json!({})] {
            let Ok(parts) = operation.encode(arguments) else { continue };
            let url = parts.url();
            let rest = url.strip_prefix(BASE).unwrap_or_else(|| panic!("`{url}` leaves `{BASE}`"));
            assert!(rest.is_empty() || rest.starts_with(['/', '?']), "`{url}` leaves `{BASE}`");
            let path = rest.split(['?', '#']).next().unwrap_or_default();
            assert!(path.split('/').all(|name| !is_dots(name)), "`{url}` goes up");
            assert!(!url.contains('#') && url.is_ascii(), "{url:?}");
            assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url:?}");
            assert_eq!(
                operation.encode(arguments).ok().map(|parts| parts.url().to_owned()).as_deref(),
                Some(url)
            );
        }
    }
});

/// Tells whether a server could take it for the name of this or the upper directory.
fn is_dots(name: &str) -> bool {
    matches!(name.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}
