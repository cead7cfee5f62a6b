//! How much is kept of what was changed.

use super::super::Trouble;
use crate::written::{from_json, integer};
use haft_workdir::{ChangeLimits, ChangeStep, PathState};
use rusqlite::{Connection, OptionalExtension as _, params};

/// Forgets contents that no set needs any more.
pub(super) fn sweep(connection: &Connection) -> Result<(), Trouble> {
    connection.execute(
        "DELETE FROM content WHERE NOT EXISTS (SELECT 1 FROM step WHERE before = digest) \
         AND NOT EXISTS (SELECT 1 FROM step WHERE after = digest)",
        (),
    )?;
    Ok(())
}

/// Keeps to the limits once a set has ended: forgets other runs, the oldest first, and at last what the set would need.
pub(super) fn keep_to(connection: &Connection, limits: ChangeLimits, set: i64) -> Result<(), Trouble> {
    // Contents of open sets stay whatever they are, since without them nothing could be rolled back.
    let mine = "digest IN (SELECT before FROM step WHERE change_set = ?1 UNION SELECT after FROM step WHERE change_set = ?1) \
                AND digest NOT IN (SELECT before FROM step JOIN change_set ON change_set.id = change_set \
                WHERE state = 0 AND before IS NOT NULL)";
    connection.execute(
        &format!("DELETE FROM content WHERE size > ?2 AND {mine}"),
        params![set, integer(limits.file_bytes)],
    )?;
    while is_over(connection, limits)? {
        let oldest: Option<String> = connection
            .query_row(
                "SELECT run FROM change_set WHERE run <> (SELECT run FROM change_set WHERE id = ?1) \
                 GROUP BY run HAVING min(state) > 0 ORDER BY max(id) LIMIT 1",
                [set],
                |row| row.get(0),
            )
            .optional()?;
        let Some(run) = oldest else { break };
        connection.execute("DELETE FROM change_set WHERE run = ?1", [run])?;
        sweep(connection)?;
    }
    if is_over(connection, limits)? {
        connection.execute(
            &format!(
                "DELETE FROM content WHERE {mine} AND digest NOT IN \
                 (SELECT before FROM step WHERE change_set <> ?1 AND before IS NOT NULL)"
            ),
            [set],
        )?;
    }
    Ok(())
}

fn is_over(connection: &Connection, limits: ChangeLimits) -> Result<bool, Trouble> {
    let (contents, bytes): (i64, i64) = connection
        .prepare_cached("SELECT count(*), coalesce(sum(size), 0) FROM content")?
        .query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(contents > integer(limits.contents) || bytes > integer(limits.total_bytes))
}

/// Lists the paths of a set whose change cannot be undone, since what was there is not kept.
pub(super) fn not_kept(connection: &Connection, set: i64) -> Result<Vec<String>, Trouble> {
    let mut steps = connection.prepare_cached(
        "SELECT body FROM step WHERE change_set = ?1 \
         AND NOT EXISTS (SELECT 1 FROM content WHERE digest = step.before) ORDER BY number",
    )?;
    let steps = steps.query_map([set], |row| row.get::<_, String>(0))?;
    let mut paths = Vec::new();
    for step in steps {
        if let ChangeStep::Set { path, before: PathState::File { .. } | PathState::Other, .. } =
            from_json("change", &set.to_string(), &step?)?
        {
            paths.push(path);
        }
    }
    Ok(paths)
}
