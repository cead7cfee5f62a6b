//! What cannot be a tool, and what the compiler says of it.
//!
//! Each file in `refused/` stands beside what is printed; `TRYBUILD=overwrite` writes that anew.

#[test]
fn what_cannot_be_a_tool_is_told_at_its_place_and_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/it/refused/*.rs");
}
