use crate::registry;

#[test]
fn the_reference_pages_are_right() {
    haft_testkit::cases::check("tests/cases", registry);
}
