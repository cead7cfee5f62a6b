use super::collected::{Collected, Message, Reader};
use super::faults;

fn collected(source: &str) -> Vec<(Reader, String)> {
    let mut collected = Collected::default();
    collected.collect(source).unwrap();
    collected.messages.into_iter().map(|message| (message.reader, message.text)).collect()
}

#[test]
fn messages_are_found_where_they_are_written() {
    let source = r#"
        #[derive(thiserror::Error)]
        enum E {
            #[error("cannot read `{path}`")]
            A { path: String },
            #[error(transparent)]
            B(io::Error),
            #[error("{0}")]
            C(String),
        }
        impl E {
            fn model_text(&self) -> String {
                match self {
                    Self::A { path } => format!("`{path}` is not there; name another"),
                    _ => "it is not there; go on without it".to_owned(),
                }
            }
        }
        fn run() {
            ToolError::retry("the file changed; read it \
                              again");
            ToolError::failed(format!("no {thing} today"));
            Refusal::new(ReplyStatus::Denied, format!("this is denied: {why}"));
            other("said to nobody in here");
            bail!("there is {n} too many");
            x().with_context(|| format!("cannot open `{place}`"))?;
            UsageError("name a file after it".to_owned());
        }
        #[cfg(test)]
        mod tests {
            fn run() { ToolError::retry("this is a test"); }
        }
    "#;
    let expected = [
        (Reader::Host, "cannot read `{path}`"),
        (Reader::Model, "`{path}` is not there; name another"),
        (Reader::Model, "it is not there; go on without it"),
        (Reader::Model, "the file changed; read it again"),
        (Reader::Model, "no {thing} today"),
        (Reader::Model, "this is denied: {why}"),
        (Reader::Person, "there is {n} too many"),
        (Reader::Person, "cannot open `{place}`"),
        (Reader::Person, "name a file after it"),
    ];
    assert_eq!(collected(source), expected.map(|(reader, text)| (reader, text.to_owned())));
}

#[test]
fn another_voice_is_named() {
    let fault = |reader, text: &str| faults("a.rs", &Message { reader, text: text.to_owned() });
    assert_eq!(fault(Reader::Host, "cannot read it"), [""; 0]);
    assert_eq!(fault(Reader::Host, "HTTP is needed"), [""; 0]);
    assert_eq!(
        fault(Reader::Host, "Failed to read the folder."),
        [
            "a.rs: \"Failed to read the folder.\": write \"directory\" for \"folder\"",
            "a.rs: \"Failed to read the folder.\": begin with a small letter",
            "a.rs: \"Failed to read the folder.\": leave out the full stop",
        ]
    );
    assert_eq!(
        fault(Reader::Model, "`/proc/self` cannot be read"),
        ["a.rs: \"`/proc/self` cannot be read\": do not tell a model of `/proc/`"]
    );
}
