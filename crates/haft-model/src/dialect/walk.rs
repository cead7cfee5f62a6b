use super::place::{ANNOTATIONS, Node, Path, Place};
use super::projection::{LossKind, Losses, NotStrictError, NotStrictReason};
use super::value::{Kind, extent, is_well_formed, quoted, same};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// How many schemas may be nested in one another.
///
/// A level of schemas is up to three levels of the messages that Gemini reads, of which Google's protocol buffers take
/// 100.
pub(super) const DEEPEST: usize = 24;

/// How many keywords and properties are read for one projection, however often references repeat them.
const MOST_WORK: usize = 50_000;

/// How much text a projection may hold: names, descriptions and literals, in bytes.
const MOST_TEXT: usize = 1024 * 1024;

/// How many bytes of a name a description quotes.
const MOST_NAME: usize = 128;

/// How many references and parts may make up one schema.
pub(super) const MOST_PARTS: usize = 64;

/// Goes through one schema on behalf of one dialect.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) top: &'a Value,
    /// Whether what cannot be said exactly is refused, not widened.
    is_strict: bool,
    pub(super) losses: Losses,
    work: usize,
    text: usize,
    /// Where schemas stand that are referred to, with the names of their definitions.
    pub(super) names: HashMap<*const Value, String>,
    /// The names of definitions, each with how often it was wanted.
    pub(super) taken: HashMap<String, usize>,
    pub(super) waiting: VecDeque<(String, Place<'a>)>,
    /// Where references led on the way to the schema at hand.
    pub(super) active: Vec<*const Value>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(top: &'a Value, is_strict: bool) -> Self {
        Self {
            top,
            is_strict,
            losses: Losses::default(),
            work: 0,
            text: 0,
            names: HashMap::new(),
            taken: HashMap::new(),
            waiting: VecDeque::new(),
            active: vec![std::ptr::from_ref(top)],
        }
    }

    pub(super) fn top(&self) -> Place<'a> {
        Place { value: self.top, path: Path::top() }
    }

    pub(super) fn lose(&mut self, path: &Path<'_>, kind: LossKind) {
        self.losses.add(|| path.pointer(), kind);
    }

    /// Refuses where the dialect is strict, and otherwise tells what was changed.
    pub(super) fn refuse(
        &mut self,
        path: &Path<'_>,
        reason: NotStrictReason,
        kind: LossKind,
    ) -> Result<(), NotStrictError> {
        if self.is_strict {
            return Err(NotStrictError { pointer: path.pointer(), reason });
        }
        self.lose(path, kind);
        Ok(())
    }

    /// Refuses what is over a limit of the projection's own, or tells that it was cut.
    pub(super) fn refuse_size(
        &mut self,
        path: &Path<'_>,
        what: &'static str,
        limit: usize,
    ) -> Result<(), NotStrictError> {
        self.refuse(path, NotStrictReason::TooLarge { what, limit }, LossKind::Cut)
    }

    /// Accounts for text that is written; `false` where there is too much.
    pub(super) fn spend_text(&mut self, bytes: usize) -> bool {
        let fits = bytes <= MOST_TEXT - self.text;
        if fits {
            self.text += bytes;
        }
        fits
    }

    /// Accounts for what is read or copied; `false` where there is too much.
    pub(super) fn spend_work(&mut self, work: usize, path: &Path<'_>) -> Result<bool, NotStrictError> {
        if work > MOST_WORK - self.work {
            self.refuse_size(path, "keywords and properties", MOST_WORK)?;
            return Ok(false);
        }
        self.work += work;
        Ok(true)
    }

    /// Reads a schema object without following what it refers to; `None` where there was too much to read.
    pub(super) fn read(
        &mut self,
        place: &Place<'a>,
        members: &'a Map<String, Value>,
    ) -> Result<Option<Node<'a>>, NotStrictError> {
        if !self.spend_work(Node::weight(members), &place.path)? {
            return Ok(None);
        }
        let mut node = Node::read(place, members);
        for path in std::mem::take(&mut node.malformed) {
            self.lose(&path, LossKind::Malformed);
        }
        modernise(&mut node);
        let bad: Vec<&str> = node
            .keywords
            .iter()
            .filter(|(name, at)| !is_well_formed(name, at.value))
            .map(|(name, _)| *name)
            .collect();
        for name in bad {
            if let Some(at) = node.keywords.remove(name) {
                self.lose(&at.path, LossKind::Malformed);
            }
        }
        Ok(Some(node))
    }

    /// Joins a schema with what it refers to and with all that must hold too.
    ///
    /// `None` where it is no schema object, or there was too much to read.
    pub(super) fn settle(&mut self, place: &Place<'a>) -> Result<Option<Node<'a>>, NotStrictError> {
        let Value::Object(members) = place.value else { return Ok(None) };
        let Some(mut node) = self.read(place, members)? else { return Ok(None) };
        let mut parts = VecDeque::new();
        let mut seen = HashSet::from([place.address()]);
        self.take_parts(&mut node, &mut parts)?;
        while let Some((part, is_reference)) = parts.pop_front() {
            if !seen.insert(part.address()) {
                continue;
            }
            if seen.len() > MOST_PARTS {
                self.refuse_size(&part.path, "schemas that hold together", MOST_PARTS)?;
                break;
            }
            if is_reference && self.active.contains(&part.address()) {
                self.refuse_size(&node.path.clone(), "nested references with further keywords", MOST_PARTS)?;
                continue;
            }
            let members = match part.value {
                Value::Object(members) => members,
                Value::Bool(true) => continue,
                _ => {
                    self.refuse(&part.path, NotStrictReason::NoValue, LossKind::Dropped)?;
                    continue;
                }
            };
            let Some(mut other) = self.read(&part, members)? else { continue };
            if !self.spend_work(node.size(), &part.path)? {
                continue;
            }
            self.take_parts(&mut other, &mut parts)?;
            if let Some(joined) = node.clone().join(other) {
                node = joined;
            } else {
                self.refuse(&part.path, NotStrictReason::Unjoinable, LossKind::Dropped)?;
            }
            if is_reference {
                node.followed.push(part.address());
            }
        }
        Ok(Some(node))
    }

    fn take_parts(
        &mut self,
        node: &mut Node<'a>,
        parts: &mut VecDeque<(Place<'a>, bool)>,
    ) -> Result<(), NotStrictError> {
        if let Some(at) = node.keywords.remove("$ref") {
            match at.value.as_str().and_then(|reference| self.resolve(reference)) {
                Some(target) => parts.push_back((target, true)),
                None => self.refuse(&at.path, NotStrictReason::Unresolved, LossKind::Unresolved)?,
            }
        }
        if let Some(all) = node.keywords.remove("allOf") {
            parts.extend(all.elements().into_iter().take(MOST_PARTS + 1).map(|part| (part, false)));
        }
        Ok(())
    }

    /// Copies a literal, unless it is too deep or too large.
    pub(super) fn literal(&mut self, place: &Place<'a>) -> Option<Value> {
        let extent = extent(place.value, MOST_WORK - self.work);
        if let Some(extent) = extent
            && self.spend_text(extent.bytes)
        {
            self.work += extent.elements;
            return Some(place.value.clone());
        }
        self.lose(&place.path, LossKind::Cut);
        None
    }

    /// Leaves a keyword out, and lets the description say it where it can be said shortly.
    pub(super) fn describe(&mut self, name: &str, place: &Place<'a>, hints: &mut Vec<String>) {
        let kind = match quoted(name, place.value) {
            _ if !tells_the_model(name, place.value) => LossKind::Dropped,
            Some(hint) if self.spend_text(hint.len()) => {
                hints.push(hint);
                LossKind::Described
            }
            _ => LossKind::Dropped,
        };
        self.lose(&place.path, kind);
    }

    /// Leaves out the annotations, of which only the description is kept.
    pub(super) fn leave_annotations(&mut self, node: &Node<'a>, hints: &mut Vec<String>) {
        for (name, place) in &node.keywords {
            match *name {
                "description" => {}
                "title" if !node.keywords.contains_key("description") => {
                    self.lose(&place.path, LossKind::Described);
                }
                name if ANNOTATIONS.contains(&name) => self.describe(name, place, hints),
                _ => {}
            }
        }
    }

    /// Leaves a property out whose name cannot be used, and lets the description speak of it.
    pub(super) fn describe_property(
        &mut self,
        name: &str,
        place: &Place<'a>,
        is_required: bool,
        hints: &mut Vec<String>,
    ) {
        let verb = if is_required { "requires" } else { "takes" };
        let named = (name.len() <= MOST_NAME).then(|| format!("also {verb} the property {name:?}"));
        let hint = named.as_ref().and_then(|named| quoted(named, place.value)).or(named);
        match hint {
            Some(hint) if self.spend_text(hint.len()) => {
                hints.push(hint);
                self.lose(&place.path, LossKind::Described);
            }
            _ => self.lose(&place.path, LossKind::Dropped),
        }
    }

    /// Writes the description, with what it has to say in place of keywords.
    pub(super) fn description(&mut self, node: &Node<'a>, hints: &[String]) -> Option<Value> {
        let mut text = String::new();
        if let Some(place) = node.keywords.get("description").or_else(|| node.keywords.get("title"))
            && let Some(Value::String(description)) = self.literal(place)
        {
            text = description;
        }
        if !hints.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push('(');
            text.push_str(&hints.join(", "));
            text.push(')');
        }
        (!text.is_empty()).then_some(Value::String(text))
    }

    /// Adds the properties of alternatives to those of an object, so that no choice is left at the top level.
    pub(super) fn flatten(
        &mut self,
        node: &mut Node<'a>,
        hints: &mut Vec<String>,
    ) -> Result<(), NotStrictError> {
        for keyword in ["anyOf", "oneOf"] {
            let Some(choice) = node.keywords.remove(keyword) else { continue };
            let mut required: Option<BTreeSet<&'a str>> = None;
            let mut adds = false;
            let mut found: BTreeMap<&'a str, Vec<Place<'a>>> = BTreeMap::new();
            for branch in choice.elements() {
                let Some(branch) = self.settle(&branch)? else { continue };
                for (name, places) in branch.properties.unwrap_or_default() {
                    adds = true;
                    let known = found.entry(name).or_default();
                    for place in places {
                        if known.len() < MOST_PARTS && !known.iter().any(|one| same(one.value, place.value)) {
                            known.push(place);
                        }
                    }
                }
                required = Some(match required {
                    None => branch.required,
                    Some(required) => required.intersection(&branch.required).copied().collect(),
                });
            }
            let properties = node.properties.get_or_insert_default();
            for (name, places) in found {
                properties.entry(name).or_insert(places);
            }
            node.required.extend(required.unwrap_or_default());
            if adds {
                self.lose(&choice.path, LossKind::Widened);
            } else {
                self.describe(keyword, &choice, hints);
            }
        }
        Ok(())
    }

    /// Lists the types a schema takes; empty where it takes any.
    pub(super) fn kinds(&mut self, node: &Node<'a>) -> Vec<Kind> {
        let kind = |value: &Value| value.as_str().and_then(Kind::named);
        match node.value("type") {
            Some(Value::Array(names)) => return names.iter().filter_map(kind).collect(),
            Some(value) => return kind(value).into_iter().collect(),
            None => {}
        }
        let mut kinds: Vec<Kind> = Vec::new();
        if let Some(value) = node.value("const") {
            return vec![Kind::of(value)];
        }
        if let Some(Value::Array(values)) = node.value("enum") {
            for kind in values.iter().map(Kind::of) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            return kinds;
        }
        if node.properties.is_some() || !node.required.is_empty() {
            kinds.push(Kind::Object);
        }
        for kind in node.keywords.keys().filter_map(|name| Kind::spoken_of(name)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if !kinds.is_empty() {
            self.lose(&node.path.clone(), LossKind::Typed);
        }
        kinds
    }
}

/// Reads what older drafts wrote otherwise.
fn modernise(node: &mut Node<'_>) {
    if node.keywords.get("items").is_some_and(|items| items.value.is_array())
        && let Some(items) = node.keywords.remove("items")
    {
        node.keywords.insert("prefixItems", items);
        if let Some(further) = node.keywords.remove("additionalItems") {
            node.keywords.insert("items", further);
        }
    }
    // Beside a single schema for all items it says nothing.
    node.keywords.remove("additionalItems");
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match node.value(exclusive) {
            Some(Value::Bool(true)) => {
                node.keywords.remove(exclusive);
                if let Some(bound) = node.keywords.remove(inclusive) {
                    node.keywords.insert(exclusive, bound);
                }
            }
            Some(Value::Bool(false)) => {
                node.keywords.remove(exclusive);
            }
            _ => {}
        }
    }
}

/// Tells whether a keyword that is left out is worth a model's attention.
fn tells_the_model(name: &str, value: &Value) -> bool {
    let is_machine_number = |format: &str| {
        matches!(format, "float" | "double") || format.trim_start_matches('u').starts_with("int")
    };
    match name {
        "title" | "deprecated" | "readOnly" | "writeOnly" | "nullable" => false,
        "format" => !value.as_str().is_some_and(is_machine_number),
        "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => value.is_object(),
        "uniqueItems" => value == &Value::Bool(true),
        "default" => !value.is_null(),
        name => {
            ANNOTATIONS.contains(&name)
                || Kind::spoken_of(name).is_some()
                || matches!(
                    name,
                    "enum" | "const" | "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else"
                )
        }
    }
}
