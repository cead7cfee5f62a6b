mod compiled;
mod name_glob;
mod parse;
mod place;
mod protected;
mod protection;
mod suggest;
mod tree;
mod written;

pub use protected::{ProtectedPlace, protected_places};

use crate::resource::{FILE, OUTSIDE};
use compiled::{CompiledPaths, Ready};
use haft_tools_core::{PatternError, PatternSet, PatternSyntax, Resource, Scheme};
use parse::{Base, Fault, PathPattern, Step, parse};
use place::{Case, Told};
use protection::{Guarded, Places};
use std::path::{Component, Path};
use std::sync::{Arc, OnceLock};
use tree::{Extent, Start};

/// Reads the patterns of `read(..)` and `write(..)` rules: globs in the manner of `.gitignore`.
///
/// They are compared with `file:` resources, which lie in the working directory, and with `outside:` ones, which are
/// absolute paths elsewhere.
///
/// | pattern | means |
/// |---|---|
/// | `**` or `*` | everything in the working directory, and nothing outside |
/// | `src/lib.rs` | that path from the working directory, and all below it should it be a directory |
/// | `src/**` | the directory `src` of the working directory and everything below it |
/// | `src/*` | what lies in `src`, and nothing deeper |
/// | `.env` | that name at any depth, since there is no `/` in it; `./.env` means the one in the working directory |
/// | `*.rs`, `id_?sa`, `[a-c]*` | such names at any depth; `*`, `?` and `[..]` stay within one name |
/// | `docs/` | the same as `docs`: what is a directory cannot be told by its name |
/// | `src/**/*.{rs,toml}` | `**` is any number of directories, `{..}` are alternatives |
/// | `/etc/hosts`, `~/notes/**` | absolute paths, and those in the home directory |
/// | `\*` | the character itself |
/// | `@protected` | for writing, all [`protected_places`] and trees that could have one in them; a file of that name is `./@protected` |
///
/// Absolute patterns mean files in the working directory too, where they lead into it. They are compared with resolved
/// paths, so a symbolic link in a pattern matches nothing.
///
/// **Allowing is strict**: letter case counts, and a pattern whose last name is a form, such as `src/*` or `*.d`, means no
/// more than what it matches. **Denying and asking are not**: letter case is ignored, as some file systems do, and
/// every pattern means all below what it matches. A tree is contained only by a pattern that contains all of it, and
/// touched by each that could match something in it.
///
/// **Protected places.** Patterns [for writing](Self::for_writing) do not contain anything in
/// [`protected_places`], such as `.git/hooks`, `.bashrc` and `.haft`, unless they write out its name:
/// `write(.git/hooks/**)` and `write(**/.envrc)` do, `write(**)`, `write(.git/**)` and `write(.*)` do not. Letter case and
/// spellings that some file systems take for the same open nothing, and neither do rules that choose tools. A tree outside of these places could have one in it,
/// and is not contained either. Touching is not affected, and neither is reading.
///
/// Looking up costs the same whether a list has ten patterns or a thousand: the patterns are a tree of names along which the
/// path is walked once.
///
/// Not known are the spellings of a letter in Unicode (composed and decomposed), and negated patterns, for which there
/// are rules of another kind.
///
/// ```
/// use haft_tool_fs::PathPatterns;
/// use haft_tools_core::{PatternSyntax, Resource, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let patterns = PathPatterns::for_writing().compile(&["**".into(), ".git/hooks/*".into()])?;
/// assert_eq!(patterns.first_containing(&Resource::exact(FILE, "src/lib.rs")), Some(0));
/// assert_eq!(patterns.first_containing(&Resource::exact(FILE, ".git/hooks/pre-commit")), Some(1));
/// assert_eq!(patterns.first_containing(&Resource::exact(FILE, ".bashrc")), None);
/// # Ok::<(), haft_tools_core::PatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PathPatterns {
    root: Option<Vec<Box<str>>>,
    home: Option<Vec<Box<str>>>,
    /// What wildcards do not open; `None` where nothing is protected.
    guarded: Option<Vec<Guarded>>,
    /// The same, compiled when it is first needed, for all lists of patterns.
    places: OnceLock<Arc<Places>>,
}

/// The pattern that means everything that is protected.
const ALL_PROTECTED: &str = "@protected";

impl PathPatterns {
    /// Reads patterns of `read(..)` rules, to which no place is special.
    pub fn for_reading() -> Self {
        Self { root: None, home: None, guarded: None, places: OnceLock::new() }
    }

    /// Reads patterns of `write(..)` rules, whose wildcards do not open [`protected_places`].
    pub fn for_writing() -> Self {
        Self { guarded: Some(Guarded::everywhere()), ..Self::for_reading() }
    }

    /// Says where the working directory is, as an absolute path without symbolic links; it is not looked at.
    ///
    /// Without it absolute patterns are refused, as they are where this is not such a path in UTF-8: it could not be told
    /// which of them lead into the working directory.
    pub fn root(mut self, path: impl AsRef<Path>) -> Self {
        self.root = names(path.as_ref());
        self.places = OnceLock::new();
        self
    }

    /// Says where the home directory is, as an absolute path without symbolic links; it is not looked at.
    ///
    /// Without it patterns that start with `~` are refused, as they are where this is not such a path in UTF-8.
    pub fn home(mut self, path: impl AsRef<Path>) -> Self {
        self.home = names(path.as_ref());
        self
    }

    /// Protects another place and all below it, such as the file of a policy; it makes no difference to reading.
    ///
    /// To be called after [`root`](Self::root) and [`home`](Self::home) if it starts with `/` or `~`.
    ///
    /// # Errors
    ///
    /// When it is not a pattern, or means all of the working directory.
    pub fn protect(mut self, pattern: &str) -> Result<Self, PatternError> {
        for place in self.read(0, pattern)? {
            self.guard(place, pattern)?;
        }
        Ok(self)
    }

    /// Protects the place at an absolute path without symbolic links, and all below it, as [`protect`](Self::protect) does.
    ///
    /// Every character of it stands for itself. A place above the working directory protects only what lies outside of that.
    ///
    /// # Errors
    ///
    /// When it is not an absolute path in UTF-8 without `..`, is the working directory, or nothing says where that is.
    pub fn protect_path(mut self, path: impl AsRef<Path>) -> Result<Self, PatternError> {
        let shown = path.as_ref().display().to_string();
        let refuse = |reason: String| PatternError::new(0, 0..shown.len(), reason);
        let Some(names) = names(path.as_ref()) else {
            return Err(refuse(format!(
                "`{shown}` is not an absolute path in UTF-8; name one to protect it"
            )));
        };
        if self.root.is_none() {
            return Err(refuse(format!(
                "nothing here says where the working directory is, and so not whether `{shown}` leads into it"
            )));
        }
        let steps = names.into_iter().map(Step::Name).collect();
        self.guard(PathPattern { base: Base::Top, steps }, &shown)?;
        Ok(self)
    }

    fn guard(&mut self, mut place: PathPattern, shown: &str) -> Result<(), PatternError> {
        if place.base != Base::Root && self.leads_inside(&place.steps) {
            place.base = Base::Root;
            place.steps.drain(..self.root.as_ref().map_or(0, Vec::len));
        }
        if place.base == Base::Root && matches!(*place.steps, [] | [Step::Deep]) {
            let reason = "nothing could be written in the working directory; name a place in it";
            return Err(PatternError::new(0, 0..shown.len(), reason));
        }
        if let Some(guarded) = &mut self.guarded {
            self.places = OnceLock::new();
            guarded.push(Guarded::new(&place, Extent::Tree, shown, "the host keeps it"));
        }
        Ok(())
    }

    /// Tells whether steps from `/` begin with the names of the working directory.
    fn leads_inside(&self, steps: &[Step]) -> bool {
        self.root.as_ref().is_some_and(|root| {
            let mut steps = steps.iter();
            root.iter().all(|name| matches!(steps.next(), Some(Step::Name(step)) if step == name))
        })
    }

    /// Reads one pattern of a list and puts the home directory in its place.
    fn read(&self, index: usize, text: &str) -> Result<Vec<PathPattern>, PatternError> {
        let refuse = |Fault { range, reason }| PatternError::new(index, range, reason);
        let mut patterns = parse(text).map_err(refuse)?;
        for pattern in &mut patterns {
            if pattern.base == Base::Root {
                continue;
            }
            if self.root.is_none() {
                let reason = "nothing here says where the working directory is, and so not whether this leads into it; \
                              write a pattern without `/` or `~` at its start";
                return Err(PatternError::new(index, 0..1, reason));
            }
            if pattern.base == Base::Home {
                let Some(home) = &self.home else {
                    let reason = "nothing here says where the home directory is; write its absolute path";
                    return Err(PatternError::new(index, 0..1, reason));
                };
                pattern.steps.splice(..0, home.iter().cloned().map(Step::Name));
            }
        }
        Ok(patterns)
    }

    fn places(&self) -> Option<&Arc<Places>> {
        let guarded = self.guarded.as_deref()?;
        Some(self.places.get_or_init(|| Arc::new(Places::new(guarded, self.root.as_deref()))))
    }

    fn told<'a>(&self, resource: &'a Resource) -> Told<'a> {
        Told::by(resource, self.root.as_deref(), Case::Matters)
    }
}

impl PatternSyntax for PathPatterns {
    fn speaks_of(&self, scheme: &Scheme) -> bool {
        *scheme == FILE || *scheme == OUTSIDE
    }

    fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
        let mut ready = Vec::with_capacity(patterns.len());
        let mut all_protected = None;
        for (index, text) in patterns.iter().enumerate() {
            if **text == *ALL_PROTECTED {
                if self.guarded.is_none() {
                    let reason =
                        "nothing is protected from being read; write `./@protected` for a file of that name";
                    return Err(PatternError::new(index, 0..text.len(), reason));
                }
                all_protected.get_or_insert(index);
                continue;
            }
            ready.extend(self.read(index, text)?.into_iter().map(|pattern| Ready {
                index,
                start: if pattern.base == Base::Root { Start::Inside } else { Start::Top },
                means_trees: pattern.means_trees(),
                steps: pattern.steps,
            }));
        }
        Ok(Box::new(CompiledPaths::new(
            patterns.len(),
            &ready,
            self.root.as_deref(),
            self.places(),
            all_protected,
        )))
    }

    /// Reads a path: from the working directory, from `/`, or from `~`. One that ends in `/**` is a tree.
    fn resource(&self, text: &str) -> Result<Resource, PatternError> {
        written::resource(self, text)
    }

    fn suggest(&self, resource: &Resource) -> Option<String> {
        let Told::Place(place) = self.told(resource) else { return None };
        let pattern = match self.places() {
            None => suggest::for_reading(&place)?,
            Some(places) if places.concern(&place) => return None,
            Some(_) => suggest::for_writing(&place)?,
        };
        // An absolute pattern is none where it is not known where the working directory is.
        self.compile(&[pattern.as_str().into()]).ok()?.first_containing(resource)?;
        Some(pattern)
    }

    fn protects(&self, resource: &Resource) -> bool {
        match self.told(resource) {
            Told::Place(place) => self.places().is_some_and(|places| places.concern(&place)),
            Told::Unclear => self.guarded.is_some(),
            Told::Nothing => false,
        }
    }

    fn remark(&self, resource: &Resource) -> Option<String> {
        let Told::Place(place) = self.told(resource) else { return None };
        self.places()?.remark(&place)
    }
}

/// The names of an absolute path.
fn names(path: &Path) -> Option<Vec<Box<str>>> {
    let mut components = path.components();
    if components.next() != Some(Component::RootDir) {
        return None;
    }
    let name = |component| match component {
        Component::Normal(name) => Some(name.to_str()?.into()),
        _ => None,
    };
    components.map(name).collect()
}

#[cfg(test)]
mod tests;
