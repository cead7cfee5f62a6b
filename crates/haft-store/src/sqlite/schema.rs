use super::opening::database;
use super::{Trouble, writing};
use crate::OpenError;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// Marks the file as one of ours: "haft" in ASCII.
const APPLICATION: i64 = 0x6861_6674;

/// What brings a file from one version of its form to the next; the first makes it.
///
/// One that was released is never changed.
const STEPS: [&str; 5] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// Is the form that a file can have.
pub(super) struct Form {
    /// What marks the file as one of this form.
    application: i64,
    /// What brings it from one version to the next.
    steps: &'static [&'static str],
}

/// The form of the store.
pub(super) const STORE: Form = Form { application: APPLICATION, steps: &STEPS };

/// The form of the journal of changes; it is marked with "hafc" in ASCII.
#[cfg(all(unix, feature = "changes"))]
pub(super) const CHANGES: Form = Form {
    application: 0x6861_6663,
    steps: &[
        include_str!("schema/changes/1.sql"),
        include_str!("schema/changes/2.sql"),
        include_str!("schema/changes/3.sql"),
    ],
};

impl Form {
    /// The version that the last step leads to.
    pub(super) fn known(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }
}

/// Says why a file is not used.
pub(super) enum Unusable {
    Foreign,
    Newer { found: u32, known: u32 },
    Trouble(Trouble),
}

impl<T: Into<Trouble>> From<T> for Unusable {
    fn from(trouble: T) -> Self {
        Self::Trouble(trouble.into())
    }
}

impl Unusable {
    pub(super) fn into_open_error(self, path: &Path, wait: Duration) -> OpenError {
        match self {
            Self::Foreign => OpenError::Foreign { path: path.to_owned() },
            Self::Newer { found, known } => OpenError::Newer { path: path.to_owned(), found, known },
            Self::Trouble(trouble) => database(path, trouble, wait),
        }
    }
}

/// Gives the version of the file's form: 0 for a file without anything in it.
pub(super) fn look(connection: &Connection, form: &Form) -> Result<u32, Unusable> {
    let (application, version, entries): (i64, i64, i64) = connection.query_row(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
         (SELECT count(*) FROM sqlite_schema)",
        (),
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    // No version is negative, so one that is was not written by this program's past.
    match (application, u32::try_from(version).unwrap_or(u32::MAX)) {
        (0, 0) if entries == 0 => Ok(0),
        (mark, found) if mark == form.application && found > form.known() => {
            Err(Unusable::Newer { found, known: form.known() })
        }
        (mark, found) if mark == form.application => Ok(found),
        _ => Err(Unusable::Foreign),
    }
}

/// Brings a file up to date, all at once or not at all; of several processes that try, one does it.
pub(super) fn migrate(connection: &mut Connection, form: &Form) -> Result<(), Unusable> {
    if look(connection, form)? == form.known() {
        return Ok(());
    }
    let transaction = writing(connection)?;
    let version = look(&transaction, form)?;
    for step in &form.steps[version as usize..] {
        transaction.execute_batch(step)?;
    }
    let (mark, version) = (form.application, form.known());
    transaction.execute_batch(&format!("PRAGMA application_id = {mark}; PRAGMA user_version = {version}"))?;
    transaction.commit()?;
    Ok(())
}
