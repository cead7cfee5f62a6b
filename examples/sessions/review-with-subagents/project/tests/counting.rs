use tally::Tally;

#[test]
fn counts_words_in_whatever_case() {
    let tally = Tally::of("The cat, the dog: THE END.");
    assert_eq!(tally.count("the"), 3);
    assert_eq!(tally.count("bird"), 0);
}

#[test]
fn gives_the_most_frequent_first() {
    let tally = Tally::of("a b b c c c");
    assert_eq!(tally.top(2), [("c", 3), ("b", 2)]);
}
