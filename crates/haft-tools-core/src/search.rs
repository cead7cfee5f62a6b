//! Finds tools by what they are called, what they do and what they take.

mod words;

use crate::ToolRegistry;
use crate::registry::Entry;
use haft_core::{Exposure, Origin, ToolSpec};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;
use words::{folded, words};

/// What a word counts in a tool's name or that of its server, its description, the name of a parameter, and the
/// description of one.
const NAME: f32 = 5.0;
const DESCRIPTION: f32 = 2.0;
const PARAMETER: f32 = 1.5;
const PARAMETER_DESCRIPTION: f32 = 0.5;

/// How fast a further occurrence of a word counts less, and how much a long specification takes off: BM25 with `k1` as
/// Robertson and Zaragoza recommend it (The Probabilistic Relevance Framework, 2009), and `b` below it, since a tool
/// with many parameters is not a worse one.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.4;

/// What a word counts that only begins as one that was asked for.
const BEGINNING: f32 = 0.4;

/// The shortest word that is also looked for as the beginning of others, in bytes, and how many of those are taken.
const SHORTEST_BEGINNING: usize = 3;
const MOST_BEGINNINGS: usize = 50;

/// The most bytes of one description and the most parts of one schema that are read, and how deep.
const MOST_BYTES: usize = 4 * 1024;
const MOST_PARTS: usize = 500;
const MOST_LEVELS: usize = 16;

/// The most bytes and words of a query that count.
const MOST_QUERY_BYTES: usize = 1_000;
const MOST_QUERY_WORDS: usize = 32;

/// Words that say nothing of what is looked for.
const FILLERS: [&str; 24] = [
    "a", "an", "and", "any", "are", "at", "by", "can", "do", "for", "from", "i", "in", "is", "it", "my",
    "of", "on", "or", "that", "the", "to", "tool", "with",
];

/// Knows which word stands in which tool, with what weight.
pub(crate) struct SearchIndex {
    /// Words, each with the places of the tools it stands in.
    postings: BTreeMap<Box<str>, Vec<Posting>>,
    /// Names without regard to case and seams.
    names: HashMap<String, Vec<u32>>,
    tools: usize,
}

struct Posting {
    place: u32,
    weight: f32,
}

impl SearchIndex {
    fn of(entries: &[Arc<Entry>]) -> Self {
        let mut postings: BTreeMap<Box<str>, Vec<Posting>> = BTreeMap::new();
        let mut names: HashMap<String, Vec<u32>> = HashMap::new();
        let mut lengths: Vec<f32> = Vec::with_capacity(entries.len());
        for (place, entry) in (0_u32..).zip(entries) {
            let mut reader = Reader::default();
            reader.read_spec(&entry.spec);
            lengths.push(reader.length);
            for (word, weight) in reader.weights {
                postings.entry(word).or_default().push(Posting { place, weight });
            }
            names.entry(folded(entry.spec.name().as_str())).or_default().push(place);
        }
        let average = lengths.iter().sum::<f32>() / as_float(lengths.len().max(1));
        for posting in postings.values_mut().flatten() {
            let length = lengths[posting.place as usize] / average.max(1.0);
            posting.weight /= 1.0 - LENGTH + LENGTH * length;
        }
        Self { postings, names, tools: entries.len() }
    }

    /// Ranks the places of tools: those whose whole name was given, then the others by how well they fit.
    fn ranked(&self, query: &str) -> Ranked {
        let query = beginning_of(query, MOST_QUERY_BYTES);
        let mut named: Vec<u32> = Vec::new();
        let texts = std::iter::once(query).chain(query.split([' ', ',', '\n', '\t', '`', '"', '\'']));
        for text in texts.filter(|text| !text.is_empty()) {
            for place in self.names.get(&folded(text)).into_iter().flatten() {
                if !named.contains(place) {
                    named.push(*place);
                }
            }
        }
        let mut scores: HashMap<u32, f32> = HashMap::new();
        let mut asked: HashSet<Box<str>> = HashSet::new();
        words(query, |word| {
            let counts = asked.len() < MOST_QUERY_WORDS && !FILLERS.contains(&word);
            if counts && asked.insert(word.into()) {
                self.score(word, &mut scores);
            }
        });
        let mut fitting: Vec<(f32, u32)> = scores
            .into_iter()
            .filter(|(place, _)| !named.contains(place))
            .map(|(place, score)| (score, place))
            .collect();
        // Places are in the order of the names.
        fitting.sort_unstable_by(|(one, left), (other, right)| other.total_cmp(one).then(left.cmp(right)));
        Ranked { named, fitting: fitting.into_iter().map(|(_, place)| place).collect() }
    }

    /// Adds to the tools' scores what one word of the query contributes: at most once for each tool.
    fn score(&self, word: &str, scores: &mut HashMap<u32, f32>) {
        let mut best: HashMap<u32, f32> = HashMap::new();
        let mut add = |postings: &[Posting], share: f32| {
            let rarity = rarity(self.tools, postings.len());
            for Posting { place, weight } in postings {
                let score = share * rarity * weight / (SATURATION + weight);
                let known = best.entry(*place).or_default();
                *known = known.max(score);
            }
        };
        if let Some(postings) = self.postings.get(word) {
            add(postings, 1.0);
        }
        if word.len() >= SHORTEST_BEGINNING {
            let longer = self.postings.range::<str, _>((Bound::Excluded(word), Bound::Unbounded));
            for (_, postings) in
                longer.take_while(|(longer, _)| longer.starts_with(word)).take(MOST_BEGINNINGS)
            {
                add(postings, BEGINNING);
            }
        }
        for (place, score) in best {
            *scores.entry(place).or_default() += score;
        }
    }
}

struct Ranked {
    named: Vec<u32>,
    fitting: Vec<u32>,
}

impl ToolRegistry {
    /// Finds tools by words: those that are named first, then the others by how well they fit.
    ///
    /// Looked at are the name, the server, the description and the parameters, in this order of weight, ranked by BM25;
    /// equal ones come in the order of their names. Words match without regard to case, seams and plural, and as the
    /// beginning of longer ones. Hidden tools are never found, and those that are explicit only just by their whole name.
    /// The first search of a registry makes its index, which reads every specification; later ones read only that.
    ///
    /// ```
    /// # use haft_core::{ToolError};
    /// # use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Nothing {}
    /// # let tool = |name, description| tool_fn(name, description, Accesses::none(), |_: Nothing, _: CallContext| async {
    /// #     Ok::<_, ToolError>("done")
    /// # });
    /// let registry = ToolRegistry::new()
    ///     .with(tool("close_issue", "Closes an issue.")?)?
    ///     .with(tool("create_issue", "Opens a new issue.")?)?
    ///     .with(tool("send_mail", "Sends a mail.")?)?;
    /// let found = registry.search("open issues", 5);
    /// assert_eq!(found.iter().map(|spec| spec.name().as_str()).collect::<Vec<_>>(), ["create_issue", "close_issue"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search(&self, query: &str, limit: usize) -> Vec<&ToolSpec> {
        self.search_within(query, limit, |_| true).into_iter().map(|entry| &*entry.spec).collect()
    }

    pub(crate) fn search_within(
        &self,
        query: &str,
        limit: usize,
        admits: impl Fn(&Entry) -> bool,
    ) -> Vec<&Arc<Entry>> {
        let entries = self.entries();
        let index = self.search_index().get_or_init(|| Arc::new(SearchIndex::of(entries)));
        let Ranked { named, fitting } = index.ranked(query);
        let at = |place: &u32| &entries[*place as usize];
        let fitting = fitting.iter().map(at).filter(|entry| !entry.spec.is_explicit_only());
        named
            .iter()
            .map(at)
            .chain(fitting)
            .filter(|entry| entry.spec.exposure() != Exposure::Hidden && admits(entry))
            .take(limit)
            .collect()
    }
}

/// Weighs the words of one specification.
#[derive(Default)]
struct Reader {
    weights: HashMap<Box<str>, f32>,
    length: f32,
    parts: usize,
}

impl Reader {
    fn read_spec(&mut self, spec: &ToolSpec) {
        self.read(spec.name().as_str(), NAME);
        self.read(spec.title(), DESCRIPTION);
        self.read(spec.description(), DESCRIPTION);
        match spec.origin() {
            Origin::Mcp { server: name, .. }
            | Origin::OpenApi { document: name, .. }
            | Origin::Agent { name } => self.read(name, DESCRIPTION),
            _ => {}
        }
        self.read_schema(spec.input_schema().as_value(), 0);
    }

    fn read(&mut self, text: &str, weight: f32) {
        words(beginning_of(text, MOST_BYTES), |word| {
            self.length += 1.0;
            match self.weights.get_mut(word) {
                Some(known) => *known += weight,
                None => drop(self.weights.insert(word.into(), weight)),
            }
        });
    }

    fn read_schema(&mut self, schema: &Value, level: usize) {
        self.parts += 1;
        if self.parts > MOST_PARTS || level > MOST_LEVELS {
            return;
        }
        match schema {
            Value::Object(members) => {
                for (key, member) in members {
                    match (key.as_str(), member) {
                        ("properties", Value::Object(properties)) => {
                            for (name, property) in properties {
                                self.read(name, PARAMETER);
                                self.read_schema(property, level + 1);
                            }
                        }
                        ("description", Value::String(text)) => self.read(text, PARAMETER_DESCRIPTION),
                        ("default" | "const" | "examples", _) => {}
                        (_, Value::Object(_) | Value::Array(_)) => self.read_schema(member, level + 1),
                        _ => {}
                    }
                }
            }
            Value::Array(parts) => parts.iter().for_each(|part| self.read_schema(part, level + 1)),
            _ => {}
        }
    }
}

/// Says how much a word tells that stands in so many of the tools.
fn rarity(tools: usize, holders: usize) -> f32 {
    let (tools, holders) = (as_float(tools), as_float(holders));
    (1.0 + (tools - holders + 0.5) / (holders + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "a ranking does not need every bit of a count")]
fn as_float(count: usize) -> f32 {
    count as f32
}

fn beginning_of(text: &str, most_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(most_bytes)]
}
