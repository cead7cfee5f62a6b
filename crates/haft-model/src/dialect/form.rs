use super::place::{ANNOTATIONS, Node, Place};
use super::projection::{LossKind, NotStrictError, NotStrictReason};
use super::value::Kind;
use super::walk::{DEEPEST, Walk};
use serde_json::Value;

/// What a schema comes down to for the dialects that have few keywords.
#[derive(Debug)]
pub(super) enum Form<'a> {
    /// Any value.
    Any(Node<'a>),
    /// A value of one of the types, of which there is one at least; null is the last of them.
    Typed { kinds: Vec<Kind>, node: Node<'a> },
    /// A value that fits one of several schemas, each of which says all that must hold.
    ///
    /// The node holds the annotations.
    Choice { node: Node<'a>, branches: Vec<Branch<'a>> },
    /// Nothing that could be said: it is no schema, too deep or too large.
    Cut,
}

/// One of the schemas of a choice.
#[derive(Debug)]
pub(super) enum Branch<'a> {
    /// As it stands: there is nothing beside the choice.
    Alone(Place<'a>),
    /// Joined with what stands beside the choice.
    Joined(Node<'a>),
}

/// Reads a schema down to its form.
pub(super) fn form<'a>(
    walk: &mut Walk<'a>,
    place: &Place<'a>,
    depth: usize,
) -> Result<Form<'a>, NotStrictError> {
    if depth > DEEPEST {
        walk.refuse_size(&place.path, "nested schemas", DEEPEST)?;
        return Ok(Form::Cut);
    }
    match place.value {
        Value::Object(_) => {}
        Value::Bool(true) => {
            walk.refuse(&place.path, NotStrictReason::AnyValue, LossKind::Widened)?;
            return Ok(Form::Cut);
        }
        Value::Bool(false) => {
            walk.refuse(&place.path, NotStrictReason::NoValue, LossKind::Widened)?;
            return Ok(Form::Cut);
        }
        _ => {
            walk.refuse(&place.path, NotStrictReason::AnyValue, LossKind::Malformed)?;
            return Ok(Form::Cut);
        }
    }
    match walk.settle(place)? {
        Some(node) => form_of(walk, node),
        None => Ok(Form::Cut),
    }
}

/// Reads a schema that is joined from its parts down to its form.
pub(super) fn form_of<'a>(walk: &mut Walk<'a>, mut node: Node<'a>) -> Result<Form<'a>, NotStrictError> {
    let mut hints = Vec::new();
    let choice = match (node.keywords.remove("anyOf"), node.keywords.remove("oneOf")) {
        (Some(any), Some(one)) => {
            walk.describe("oneOf", &one, &mut hints);
            Some(any)
        }
        (None, Some(one)) => {
            walk.lose(&one.path, LossKind::Widened);
            Some(one)
        }
        (any, None) => any,
    };
    if let Some(choice) = choice {
        let mut rest = node.clone();
        rest.keywords.retain(|name, _| !ANNOTATIONS.contains(name));
        let mut branches = Vec::new();
        let mut says_something = false;
        if rest.is_bare() {
            let all = choice.elements().into_iter().filter(|place| place.value != &Value::Bool(false));
            branches.extend(all.map(Branch::Alone));
            node.keywords.retain(|name, _| ANNOTATIONS.contains(name));
            node.hints.append(&mut hints);
            return Ok(Form::Choice { node, branches });
        }
        for place in choice.elements() {
            let branch = match walk.settle(&place)? {
                Some(branch) => branch,
                None if place.value == &Value::Bool(false) => continue,
                None => {
                    walk.refuse(&place.path, NotStrictReason::AnyValue, LossKind::Widened)?;
                    says_something = false;
                    branches.clear();
                    break;
                }
            };
            if !walk.spend_work(rest.size(), &place.path)? {
                return Ok(Form::Cut);
            }
            says_something |= !is_constraint(&branch);
            let path = branch.path.clone();
            let alone = branch.clone();
            if let Some(joined) = branch.join(rest.clone()) {
                branches.push(Branch::Joined(joined));
            } else {
                walk.refuse(&path, NotStrictReason::Unjoinable, LossKind::Widened)?;
                branches.push(Branch::Joined(alone));
            }
        }
        if says_something && !branches.is_empty() {
            node.keywords.retain(|name, _| ANNOTATIONS.contains(name));
            node.hints.append(&mut hints);
            return Ok(Form::Choice { node, branches });
        }
        walk.describe("anyOf", &choice, &mut hints);
    }
    node.hints.append(&mut hints);
    let mut kinds = walk.kinds(&node);
    let values = permitted(&node);
    if kinds.contains(&Kind::Number) {
        kinds.retain(|kind| *kind != Kind::Integer);
    }
    if let Some(values) = &values {
        kinds.retain(|kind| values.iter().any(|value| kind.takes(value)));
        if kinds.is_empty() {
            walk.refuse(&node.path.clone(), NotStrictReason::NoValue, LossKind::Widened)?;
            return Ok(Form::Cut);
        }
    }
    kinds.sort_by_key(|kind| *kind == Kind::Null);
    if kinds.is_empty() { Ok(Form::Any(node)) } else { Ok(Form::Typed { kinds, node }) }
}

/// Lists the values that a schema permits, where it lists them.
pub(super) fn permitted<'a>(node: &Node<'a>) -> Option<Vec<&'a Value>> {
    match (node.value("const"), node.value("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Tells whether an alternative only says which properties there must be.
fn is_constraint(node: &Node<'_>) -> bool {
    node.properties.is_none()
        && node.keywords.keys().all(|name| ANNOTATIONS.contains(name) || *name == "not" || *name == "type")
        && (!node.required.is_empty() || node.keywords.contains_key("not"))
}
