use super::value::{Kind, same};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

/// The most bytes of a pointer that are told.
const MOST_POINTER_BYTES: usize = 1024;

/// Keywords that say nothing of the values, so that one of two may be passed over.
pub(super) const ANNOTATIONS: [&str; 8] =
    ["title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"];

/// Keywords that concern the schema as a document, and are left out without a word.
pub(super) const DOCUMENT: [&str; 8] =
    ["$schema", "$id", "id", "$comment", "$anchor", "$vocabulary", "$defs", "definitions"];

/// Keywords whose meaning hangs on their neighbours, so that they cannot move to another schema.
const ENTANGLED: [&str; 10] = [
    "prefixItems",
    "additionalItems",
    "minContains",
    "maxContains",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "patternProperties",
];

/// The way to a place in the original schema, written out only when a loss is told.
#[derive(Debug, Clone)]
pub(super) struct Path<'a>(Option<Rc<Step<'a>>>);

#[derive(Debug)]
struct Step<'a> {
    before: Path<'a>,
    token: Token<'a>,
}

#[derive(Debug)]
enum Token<'a> {
    Name(&'a str),
    Index(usize),
    /// A pointer from the top, as a reference gives it.
    Whole(&'a str),
}

impl<'a> Path<'a> {
    pub(super) fn top() -> Self {
        Self(None)
    }

    pub(super) fn whole(pointer: &'a str) -> Self {
        Self::top().step(Token::Whole(pointer))
    }

    pub(super) fn name(&self, name: &'a str) -> Self {
        self.step(Token::Name(name))
    }

    pub(super) fn index(&self, index: usize) -> Self {
        self.step(Token::Index(index))
    }

    fn step(&self, token: Token<'a>) -> Self {
        Self(Some(Rc::new(Step { before: self.clone(), token })))
    }

    pub(super) fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut at = self;
        while let Some(step) = &at.0 {
            steps.push(&step.token);
            at = &step.before;
        }
        let mut pointer = String::new();
        for token in steps.into_iter().rev() {
            match token {
                Token::Name(name) => {
                    let name = &name[..name.floor_char_boundary(MOST_POINTER_BYTES)];
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                Token::Index(index) => {
                    let _ = write!(pointer, "/{index}");
                }
                Token::Whole(whole) => {
                    pointer.push_str(&whole[..whole.floor_char_boundary(MOST_POINTER_BYTES)]);
                }
            }
            if pointer.len() > MOST_POINTER_BYTES {
                pointer.truncate(pointer.floor_char_boundary(MOST_POINTER_BYTES));
                break;
            }
        }
        pointer
    }
}

/// A value of the original schema with the way to it.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) value: &'a Value,
    pub(super) path: Path<'a>,
}

impl<'a> Place<'a> {
    pub(super) fn member(&self, value: &'a Value, name: &'a str) -> Self {
        Self { value, path: self.path.name(name) }
    }

    /// Lists the elements of an array.
    pub(super) fn elements(&self) -> Vec<Self> {
        let elements = self.value.as_array().map_or(&[][..], Vec::as_slice);
        elements
            .iter()
            .enumerate()
            .map(|(index, value)| Self { value, path: self.path.index(index) })
            .collect()
    }

    pub(super) fn address(&self) -> *const Value {
        std::ptr::from_ref(self.value)
    }
}

/// One schema object, read into its parts; it can be joined with others that must hold too.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) path: Path<'a>,
    /// All but `properties` and `required`, which are read below, and what concerns the document.
    pub(super) keywords: BTreeMap<&'a str, Place<'a>>,
    /// What each property may be: one schema, or several of which one must fit.
    pub(super) properties: Option<BTreeMap<&'a str, Vec<Place<'a>>>>,
    pub(super) required: BTreeSet<&'a str>,
    /// `properties` and `required` that are not of their form.
    pub(super) malformed: Vec<Path<'a>>,
    /// Where references led from here.
    pub(super) followed: Vec<*const Value>,
    /// What the description has to say in place of keywords.
    pub(super) hints: Vec<String>,
}

impl<'a> Node<'a> {
    pub(super) fn read(place: &Place<'a>, members: &'a Map<String, Value>) -> Self {
        let mut node = Self {
            path: place.path.clone(),
            keywords: BTreeMap::new(),
            properties: None,
            required: BTreeSet::new(),
            malformed: Vec::new(),
            followed: Vec::new(),
            hints: Vec::new(),
        };
        for (name, value) in members {
            let at = place.member(value, name);
            match (name.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    let all =
                        properties.iter().map(|(name, value)| (name.as_str(), vec![at.member(value, name)]));
                    node.properties = Some(all.collect());
                }
                ("required", Value::Array(names)) if names.iter().all(Value::is_string) => {
                    node.required = names.iter().filter_map(Value::as_str).collect();
                }
                ("properties" | "required", _) => node.malformed.push(at.path),
                (name, _) if DOCUMENT.contains(&name) => {}
                (name, _) => {
                    node.keywords.insert(name, at);
                }
            }
        }
        node
    }

    /// Says how much reading it costs: its keywords, and what they list.
    pub(super) fn weight(members: &Map<String, Value>) -> usize {
        let listed = members.iter().map(|(name, value)| match value {
            _ if DOCUMENT.contains(&name.as_str()) => 0,
            Value::Object(members) => members.len(),
            Value::Array(elements) => elements.len(),
            _ => 0,
        });
        1 + members.len() + listed.sum::<usize>()
    }

    /// Says how much copying it costs.
    pub(super) fn size(&self) -> usize {
        1 + self.keywords.len() + self.properties.as_ref().map_or(0, BTreeMap::len) + self.required.len()
    }

    /// Borrows a keyword's value.
    pub(super) fn value(&self, keyword: &str) -> Option<&'a Value> {
        self.keywords.get(keyword).map(|place| place.value)
    }

    /// Tells whether it says nothing but annotations.
    pub(super) fn is_bare(&self) -> bool {
        self.properties.is_none()
            && self.required.is_empty()
            && self.keywords.keys().all(|name| ANNOTATIONS.contains(name))
    }

    /// Keeps what concerns one of the types, and no annotation.
    pub(super) fn only(&self, kind: Kind) -> Self {
        let mut node = self.clone();
        let concerns = |name: &str| match Kind::spoken_of(name) {
            Some(Kind::Number) => matches!(kind, Kind::Number | Kind::Integer),
            Some(other) => other == kind,
            None => {
                !ANNOTATIONS.contains(&name)
                    && (name != "format" || matches!(kind, Kind::String | Kind::Number | Kind::Integer))
            }
        };
        node.keywords.retain(|name, _| concerns(name));
        if kind != Kind::Object {
            node.properties = None;
            node.required.clear();
        }
        node.hints.clear();
        node
    }

    /// Joins another schema that must hold as well; `None` where one schema cannot say both.
    ///
    /// Annotations of this one win.
    pub(super) fn join(mut self, other: Self) -> Option<Self> {
        let is_entangled = |node: &Self| ENTANGLED.iter().any(|name| node.keywords.contains_key(name));
        if (is_entangled(&self) && !other.is_bare()) || (is_entangled(&other) && !self.is_bare()) {
            return None;
        }
        let closed =
            |node: &Self| node.value("additionalProperties").is_some_and(|value| *value != Value::Bool(true));
        if closed(&self) || closed(&other) {
            // What one of them calls further properties, the other may describe.
            let names = |node: &Self| {
                node.properties.iter().flat_map(BTreeMap::keys).copied().collect::<BTreeSet<_>>()
            };
            let (mine, others) = (names(&self), names(&other));
            let fits =
                (closed(&self) || mine.is_subset(&others)) && (closed(&other) || others.is_subset(&mine));
            if !fits || (closed(&self) && closed(&other) && mine != others) {
                return None;
            }
        }
        for (name, place) in other.keywords {
            match self.keywords.get(name) {
                None => {
                    self.keywords.insert(name, place);
                }
                Some(mine) if ANNOTATIONS.contains(&name) || same(mine.value, place.value) => {}
                Some(mine) if name == "type" && is_whole_number(mine.value, place.value) => {}
                Some(mine) if name == "type" && is_whole_number(place.value, mine.value) => {
                    self.keywords.insert(name, place);
                }
                Some(_) => return None,
            }
        }
        if let Some(properties) = other.properties {
            let mine = self.properties.get_or_insert_default();
            for (name, places) in properties {
                match mine.get(name) {
                    None => {
                        mine.insert(name, places);
                    }
                    Some(known) if same_places(known, &places) => {}
                    Some(_) => return None,
                }
            }
        }
        self.required.extend(other.required);
        self.malformed.extend(other.malformed);
        self.followed.extend(other.followed);
        self.hints.extend(other.hints);
        Some(self)
    }
}

/// Tells whether one `type` is that of whole numbers and the other that of all numbers.
fn is_whole_number(narrow: &Value, wide: &Value) -> bool {
    narrow == "integer" && wide == "number"
}

fn same_places(some: &[Place<'_>], others: &[Place<'_>]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| same(one.value, other.value))
}
