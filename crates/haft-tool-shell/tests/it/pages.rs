use haft_testkit::cases;
use haft_tool_shell::{Environment, tools};
use haft_tools_core::ToolRegistry;

#[test]
fn replies_as_its_page_says() {
    cases::check("tests/cases", |tree| {
        tools(&tree.workdir(), &Environment::minimal())
            .into_iter()
            .try_fold(ToolRegistry::new(), |registry, tool| registry.with(tool))
            .expect("each tool has a name of its own")
    });
}
