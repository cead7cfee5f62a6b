use crate::path_pattern::PathFilter;
use crate::wording::{Quoted, either};
use haft_core::ToolError;
use haft_workdir::WorkdirPath;
use ignore::types::{FileTypeDef, Types, TypesBuilder};

/// How many known types are named to a model that named one that is not.
const NAMED: usize = 3;

/// Which files below a directory are searched.
#[derive(Debug, Default)]
pub(crate) struct FileFilter {
    /// What the model wrote as `glob`, with what it means.
    pub(crate) glob: Option<(String, PathFilter)>,
    /// What the model wrote as `type`, with what it means.
    pub(crate) types: Option<(String, Types)>,
}

impl FileFilter {
    pub(crate) fn parse(glob: Option<String>, types: Option<String>) -> Result<Self, ToolError> {
        let glob = glob.map(|given| match PathFilter::parse(&given) {
            Ok(filter) => Ok((given, filter)),
            Err(error) => Err(error.refuse("glob", &given)),
        });
        let types = types.map(|given| file_type(&given).map(|types| (given, types)));
        Ok(Self { glob: glob.transpose()?, types: types.transpose()? })
    }

    /// Tells whether hidden files are asked for by naming one.
    pub(crate) fn names_hidden(&self) -> bool {
        self.glob.as_ref().is_some_and(|(_, filter)| filter.names_hidden())
    }

    /// Tells whether a file below a start is searched.
    pub(crate) fn takes(&self, start: &WorkdirPath, file: &WorkdirPath) -> bool {
        match (file.parent(), file.file_name()) {
            (Some(directory), Some(name)) => self.below(start, &directory)(name),
            _ => true,
        }
    }

    /// Returns what tells of the names of files in a directory whether they are searched.
    pub(crate) fn below(
        &self,
        start: &WorkdirPath,
        directory: &WorkdirPath,
    ) -> impl Fn(&str) -> bool + use<'_> {
        let above = directory.relative_to(start).unwrap_or_default();
        let above = if above.is_empty() { String::new() } else { format!("{above}/") };
        move |name| {
            let is_of_type =
                self.types.as_ref().is_none_or(|(_, types)| types.matched(name, false).is_whitelist());
            is_of_type && self.glob.as_ref().is_none_or(|(_, filter)| filter.takes(&format!("{above}{name}")))
        }
    }

    /// Says in words which files are taken; empty where all are.
    pub(crate) fn in_words(&self) -> String {
        let glob = self.glob.as_ref().map(|(given, _)| format!("that {} takes", Quoted(given)));
        let types = self.types.as_ref().map(|(given, _)| format!("of type {}", Quoted(given)));
        let parts: Vec<String> = [types, glob].into_iter().flatten().map(|part| format!(" {part}")).collect();
        parts.concat()
    }
}

/// Finds a type by its name, or by an extension that only one has.
fn file_type(given: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known = builder.definitions();
    let wanted = given.trim_start_matches(['.', '*']).to_lowercase();
    let extension = format!("*.{wanted}");
    let of_extension: Vec<&FileTypeDef> =
        known.iter().filter(|known| known.globs().contains(&extension)).collect();
    // `all` is no type of its own, and would leave out what has none.
    let only = match of_extension.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    let found = known.iter().find(|known| known.name() == given).or(only);
    if let Some(found) = found
        && let Ok(types) = builder.select(found.name()).build()
    {
        return Ok(types);
    }
    let starting = known.iter().filter(|known| !wanted.is_empty() && known.name().starts_with(&wanted));
    let near = of_extension.into_iter().chain(starting).map(FileTypeDef::name);
    let mut near: Vec<&str> = near.take(NAMED).collect();
    near.dedup();
    let next = if near.is_empty() {
        "leave it out and set `glob`, such as `*.rs`".to_owned()
    } else {
        format!("did you mean {}? Otherwise leave it out and set `glob`, such as `*.rs`", either(near))
    };
    Err(ToolError::invalid_input(format!("`type` {} is not known; {next}", Quoted(given))))
}
