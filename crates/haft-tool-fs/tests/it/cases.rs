use crate::fixture::registry;
use haft_testkit::cases;

#[test]
fn behaves_as_its_pages_say() {
    cases::check("tests/cases", registry);
}
