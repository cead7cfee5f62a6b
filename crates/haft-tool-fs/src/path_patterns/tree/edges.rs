use super::super::name_glob::NameGlob;
use super::super::parse::Step;
use ahash::AHashMap;

/// The ways on from a node, by what they expect of a name.
///
/// Names are looked up. Forms of names are filed under what is easily seen of a name, so that of many only few are tried:
/// under the ending (`*.rs` under `rs`), else under the first byte, else under the last, else under nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Edges {
    names: AHashMap<Box<str>, u32>,
    /// The bytes with which a name among them starts: to look there costs less than to look the name up.
    firsts: [u128; 2],
    by_ending: AHashMap<Box<str>, Vec<Form>>,
    by_first: Vec<(u8, Vec<Form>)>,
    by_last: Vec<(u8, Vec<Form>)>,
    others: Vec<Form>,
    any: Option<u32>,
}

#[derive(Debug, Clone)]
struct Form {
    glob: NameGlob,
    to: u32,
}

impl Edges {
    /// The node to which exactly this step leads.
    pub(super) fn get(&self, step: &Step) -> Option<u32> {
        match step {
            Step::Name(name) => self.names.get(&**name).copied(),
            Step::Glob(glob) => self.forms(glob)?.iter().find(|form| form.glob == *glob).map(|form| form.to),
            Step::Any => self.any,
            Step::Deep => None,
        }
    }

    pub(super) fn insert(&mut self, step: &Step, to: u32) {
        match step {
            Step::Name(name) => {
                if let Some((word, bit)) = first_bit(name) {
                    self.firsts[word] |= bit;
                }
                self.names.insert(name.clone(), to);
            }
            Step::Glob(glob) => self.file(Form { glob: glob.clone(), to }),
            Step::Any | Step::Deep => self.any = Some(to),
        }
    }

    /// Gives every node to which a name leads.
    pub(super) fn each(&self, name: &str, mut give: impl FnMut(u32)) {
        if let Some(to) = self.any {
            give(to);
        }
        if first_bit(name).is_some_and(|(word, bit)| self.firsts[word] & bit != 0)
            && let Some(to) = self.names.get(name)
        {
            give(*to);
        }
        let mut try_all = |forms: &[Form]| {
            forms.iter().filter(|form| form.glob.matches(name)).for_each(|form| give(form.to));
        };
        if !self.by_ending.is_empty()
            && let Some(forms) = ending(name).and_then(|ending| self.by_ending.get(ending))
        {
            try_all(forms);
        }
        if let [first, .., last] | [first @ last] = name.as_bytes() {
            try_all(filed(&self.by_first, *first));
            try_all(filed(&self.by_last, *last));
        }
        try_all(&self.others);
    }

    fn forms(&self, glob: &NameGlob) -> Option<&[Form]> {
        Some(match Key::of(glob) {
            Key::Ending(ending) => self.by_ending.get(ending)?,
            Key::First(byte) => filed(&self.by_first, byte),
            Key::Last(byte) => filed(&self.by_last, byte),
            Key::Nothing => &self.others,
        })
    }

    fn file(&mut self, form: Form) {
        match Key::of(&form.glob) {
            Key::Ending(ending) => match self.by_ending.get_mut(ending) {
                Some(forms) => forms.push(form),
                None => {
                    self.by_ending.insert(ending.into(), vec![form]);
                }
            },
            Key::First(byte) => place(&mut self.by_first, byte).push(form),
            Key::Last(byte) => place(&mut self.by_last, byte).push(form),
            Key::Nothing => self.others.push(form),
        }
    }
}

/// Where the first byte of a name stands in a set of bytes.
fn first_bit(name: &str) -> Option<(usize, u128)> {
    name.bytes().next().map(|byte| (usize::from(byte >> 7), 1 << (byte & 127)))
}

/// What a form of names is filed under.
enum Key<'a> {
    Ending(&'a str),
    First(u8),
    Last(u8),
    Nothing,
}

impl<'a> Key<'a> {
    fn of(glob: &'a NameGlob) -> Self {
        if let Some(ending) = ending(glob.tail()) {
            return Self::Ending(ending);
        }
        let (head, tail) = (glob.head().as_bytes(), glob.tail().as_bytes());
        match (head.first(), tail.last()) {
            (Some(first), _) => Self::First(*first),
            (None, Some(last)) => Self::Last(*last),
            (None, None) => Self::Nothing,
        }
    }
}

/// What stands behind the last `.`.
fn ending(name: &str) -> Option<&str> {
    memchr::memrchr(b'.', name.as_bytes()).map(|dot| &name[dot + 1..])
}

fn filed(forms: &[(u8, Vec<Form>)], byte: u8) -> &[Form] {
    forms.iter().find(|(key, _)| *key == byte).map_or(&[], |(_, forms)| forms)
}

fn place(forms: &mut Vec<(u8, Vec<Form>)>, byte: u8) -> &mut Vec<Form> {
    let at = forms.iter().position(|(key, _)| *key == byte).unwrap_or_else(|| {
        forms.push((byte, Vec::new()));
        forms.len() - 1
    });
    &mut forms[at].1
}
