//! A domain with patterns, as the crates of files, commands and hosts bring along.

use haft_tools_core::{AccessMode, PatternError, PatternSet, PatternSyntax, Resource, RuleLanguage, Scheme};

/// Has patterns over one scheme: `a/b` is that path, `a/*` what lies right below, and `a/**` all that does.
#[derive(Debug)]
pub(crate) struct Patterns(pub(crate) Scheme);

#[derive(Debug)]
struct Compiled(Scheme, Vec<Box<str>>);

pub(crate) const FILE: Scheme = Scheme::new("file");
pub(crate) const EXEC: Scheme = Scheme::new("exec");

/// Reads patterns of files and of commands, and none of hosts.
pub(crate) fn language() -> RuleLanguage {
    RuleLanguage::new()
        .with(AccessMode::Read, Patterns(FILE))
        .with(AccessMode::Write, Patterns(FILE))
        .with(AccessMode::Execute, Patterns(EXEC))
}

impl PatternSyntax for Patterns {
    fn speaks_of(&self, scheme: &Scheme) -> bool {
        *scheme == self.0
    }

    fn compile(&self, patterns: &[Box<str>]) -> Result<Box<dyn PatternSet>, PatternError> {
        for (index, pattern) in patterns.iter().enumerate() {
            if let Some(at) = pattern.find('?') {
                return Err(PatternError::new(index, at..at + 1, "`?` is not known here; write `*`"));
            }
        }
        Ok(Box::new(Compiled(self.0.clone(), patterns.to_vec())))
    }

    fn resource(&self, text: &str) -> Result<Resource, PatternError> {
        match text.find('*') {
            // The range is wrong on purpose: it reaches over the end.
            Some(at) => Err(PatternError::new(0, at..at + 100, "this is a pattern; write one path")),
            None => Ok(Resource::exact(self.0.clone(), text)),
        }
    }

    fn suggest(&self, resource: &Resource) -> Option<String> {
        match resource.path().rsplit_once('/') {
            Some((folder, _)) => Some(format!("{folder}/*")),
            None if resource.path() == "wrong" => Some("another".to_owned()),
            None => None,
        }
    }

    fn protects(&self, resource: &Resource) -> bool {
        resource.path().starts_with('.')
    }

    fn remark(&self, resource: &Resource) -> Option<String> {
        resource
            .path()
            .starts_with('.')
            .then(|| "it is hidden, so only a rule that names it allows it".to_owned())
    }
}

impl Compiled {
    fn contains(&self, pattern: &str, resource: &Resource) -> bool {
        let path = resource.path();
        if let Some(folder) = pattern.strip_suffix("/**") {
            return Resource::subtree(self.0.clone(), folder).contains(resource);
        }
        if resource.is_subtree() {
            return false;
        }
        match pattern.strip_suffix("/*") {
            Some(folder) => path.rsplit_once('/').is_some_and(|(within, _)| within == folder),
            None => path == pattern,
        }
    }

    fn touches(&self, pattern: &str, resource: &Resource) -> bool {
        let folder = pattern.strip_suffix("/**").or(pattern.strip_suffix("/*")).unwrap_or(pattern);
        let below = resource.contains(&Resource::exact(self.0.clone(), folder));
        below || self.contains(pattern, resource)
    }
}

impl PatternSet for Compiled {
    fn first_containing(&self, resource: &Resource) -> Option<usize> {
        let meant = *resource.scheme() == self.0;
        self.1.iter().position(|pattern| meant && self.contains(pattern, resource))
    }

    fn first_touching(&self, resource: &Resource) -> Option<usize> {
        let meant = *resource.scheme() == self.0;
        self.1.iter().position(|pattern| meant && self.touches(pattern, resource))
    }
}
