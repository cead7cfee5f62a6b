use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};

/// Writes objects of one form as rows, since their names and what many of them have in common are most of what they take.
///
/// `base.js` makes objects of them again. A column of `often` has a list of its values, and its cells say which. Nothing stands for what an
/// object does not have, and is left out at the end of a row.
pub(super) fn packed(objects: Vec<Value>, often: &[&str]) -> Value {
    let names: BTreeSet<String> =
        objects.iter().filter_map(Value::as_object).flat_map(Map::keys).cloned().collect();
    let mut columns: Vec<Column> = names.into_iter().map(|name| Column::new(name, often)).collect();
    // What few objects have stands last, where it need not be said that others have it not.
    let count = |name: &str| objects.iter().filter(|object| object.get(name).is_some()).count();
    columns.sort_by_cached_key(|column| std::cmp::Reverse(count(&column.name)));
    let rows: Vec<Value> = objects
        .into_iter()
        .map(|mut object| {
            let cell = |column: &mut Column| {
                let value = object.get_mut(&column.name).map(Value::take)?;
                Some(column.cell(value))
            };
            let mut row: Vec<Option<Value>> = columns.iter_mut().map(cell).collect();
            row.truncate(row.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
            row.into_iter().map(Option::unwrap_or_default).collect()
        })
        .collect();
    let (mut shown, mut values) = (Vec::new(), Map::new());
    for Column { name, known } in columns {
        if let Some(known) = known {
            values.insert(name.clone(), known.values.into());
        }
        shown.push(name);
    }
    json!({ "columns": shown, "values": values, "rows": rows })
}

/// Is one member that objects have.
struct Column {
    name: String,
    known: Option<Known>,
}

/// Holds the values of a column, each once.
#[derive(Default)]
struct Known {
    values: Vec<Value>,
    places: HashMap<String, usize>,
}

impl Column {
    fn new(name: String, often: &[&str]) -> Self {
        let known = often.contains(&&*name).then(Known::default);
        Self { name, known }
    }

    fn cell(&mut self, value: Value) -> Value {
        let Some(Known { values, places }) = &mut self.known else { return value };
        let place = *places.entry(value.to_string()).or_insert_with(|| {
            values.push(value);
            values.len() - 1
        });
        json!(place)
    }
}

#[cfg(test)]
mod tests {
    use super::packed;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn names_and_what_objects_have_in_common_are_written_once() {
        let objects = vec![
            json!({ "id": "a", "tool": "grep", "at": 1, "rare": [1] }),
            json!({ "id": "b", "tool": "grep", "at": 2 }),
            json!({ "id": "c", "tool": "bash", "by": { "who": "x" } }),
            json!({ "id": "d", "by": { "who": "x" } }),
        ];
        expect![[r#"{"columns":["id","tool","at","by","rare"],"rows":[["a",0,1,null,[1]],["b",0,2],["c",1,null,0],["d",null,null,0]],"values":{"by":[{"who":"x"}],"tool":["grep","bash"]}}"#]]
            .assert_eq(&packed(objects, &["tool", "by"]).to_string());
        expect![[r#"{"columns":[],"rows":[],"values":{}}"#]]
            .assert_eq(&packed(Vec::new(), &["tool"]).to_string());
    }
}
