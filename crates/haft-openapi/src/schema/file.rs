use serde_json::{Value, json};

/// Makes the schema of a file: a text, or an object with what it holds in base64.
pub(super) fn schema() -> Value {
    json!({
        "anyOf": [
            { "type": "string", "description": "The content, if it is text." },
            {
                "type": "object",
                "properties": {
                    "base64": { "type": "string", "description": "The content." },
                    "filename": { "type": "string" },
                    "content_type": { "type": "string" },
                },
                "required": ["base64"],
                "additionalProperties": false,
            },
        ],
    })
}
