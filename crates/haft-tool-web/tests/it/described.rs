//! What a model is told of the tools.

use crate::searching::Engine;
use crate::server::fetch;
use expect_test::{Expect, expect};
use haft_testkit::laid_out;
use haft_tool_web::WebSearch;
use haft_tools_core::Tool;

fn check(tool: &impl Tool, expected: &Expect) {
    expected.assert_eq(&laid_out(tool.spec()));
}

#[test]
fn web_fetch_is_described_to_the_model() {
    check(
        &fetch(),
        &expect![[r#"
            {
              "description": "Reads a page of the web by its address. HTML comes as Markdown, the main part of the page only unless `whole` is set; JSON, text and images come as they are. Where the page has moved to another host, it says where to; call it again with that address to read it. What it gives was written by others.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": true, "read_only": true, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "raw": {"default": false, "description": "Whether to give the HTML itself.", "type": "boolean"},
                  "url": {
                    "description": "The whole address, such as `https://example.org/page`.",
                    "maxLength": 8000,
                    "type": "string"
                  },
                  "whole": {
                    "default": false,
                    "description": "Whether to give the page's navigation, header and footer too.",
                    "type": "boolean"
                  }
                },
                "required": ["url"],
                "type": "object"
              },
              "name": "web_fetch",
              "origin": {"kind": "builtin"},
              "title": "Read a web page"
            }"#]],
    );
}

#[test]
fn web_search_is_described_to_the_model() {
    check(
        &WebSearch::new(Engine),
        &expect![[r#"
            {
              "description": "Searches the web and lists what was found, the best first: title, address and an excerpt of each. What it gives was written by others.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": true, "open_world": true, "read_only": true, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "limit": {
                    "default": 10,
                    "description": "The most pages to list.",
                    "format": "uint8",
                    "maximum": 30,
                    "minimum": 1,
                    "type": "integer"
                  },
                  "query": {"description": "What to look for.", "maxLength": 1000, "minLength": 1, "type": "string"}
                },
                "required": ["query"],
                "type": "object"
              },
              "name": "web_search",
              "origin": {"kind": "builtin"},
              "title": "Search the web"
            }"#]],
    );
}
