use super::place::{DOCUMENT, Path, Place};
use super::walk::{MOST_PARTS, Walk};
use serde_json::{Value, json};

/// How long a reference may be.
const MOST_REFERENCE_BYTES: usize = 4096;

impl<'a> Walk<'a> {
    /// Finds what a reference means, through references that are nothing else; `None` where it leads nowhere.
    pub(super) fn resolve(&self, reference: &'a str) -> Option<Place<'a>> {
        let mut reference = reference;
        // Longer ones are no slip of a pen, and reading them again and again would cost too much.
        if reference.len() > MOST_REFERENCE_BYTES {
            return None;
        }
        for _ in 0..MOST_PARTS {
            let pointer = reference.strip_prefix('#')?;
            let value = if pointer.is_empty() {
                self.top
            } else if pointer.starts_with('/') {
                self.top.pointer(&percent_decoded(pointer)?)?
            } else {
                return None;
            };
            match value {
                Value::Object(members) => match members.get("$ref") {
                    Some(Value::String(further))
                        if members.keys().all(|name| name == "$ref" || DOCUMENT.contains(&name.as_str())) =>
                    {
                        reference = further;
                    }
                    _ => return Some(Place { value, path: Path::whole(pointer) }),
                },
                Value::Bool(_) => return Some(Place { value, path: Path::whole(pointer) }),
                _ => return None,
            }
        }
        None
    }

    /// Names a schema that is referred to, so that it is written among the definitions once.
    pub(super) fn reference(&mut self, target: &Place<'a>) -> Value {
        if std::ptr::eq(target.value, self.top) {
            return json!("#");
        }
        let address = target.address();
        if let Some(name) = self.names.get(&address) {
            return json!(format!("#/$defs/{name}"));
        }
        let pointer = target.path.pointer();
        let base: String = pointer
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .chars()
            .map(|char| if char.is_ascii_alphanumeric() || "_-".contains(char) { char } else { '_' })
            .take(64)
            .collect();
        let base = if base.is_empty() { "schema".to_owned() } else { base };
        let mut name = base.clone();
        while self.taken.contains_key(&name) {
            let count = self.taken.entry(base.clone()).or_insert(1);
            *count += 1;
            name = format!("{base}_{count}");
        }
        self.taken.insert(name.clone(), 1);
        self.names.insert(address, name.clone());
        let reference = json!(format!("#/$defs/{name}"));
        self.waiting.push_back((name, target.clone()));
        reference
    }

    /// Takes the next schema that is referred to and not written yet.
    pub(super) fn next_definition(&mut self) -> Option<(String, Place<'a>)> {
        self.waiting.pop_front()
    }
}

/// Reads the `%25` notation of a reference; `None` where it is not UTF-8.
fn percent_decoded(pointer: &str) -> Option<String> {
    if !pointer.contains('%') {
        return Some(pointer.to_owned());
    }
    let bytes = pointer.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).ok()?);
                at += 3;
            }
            (byte, _, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}
