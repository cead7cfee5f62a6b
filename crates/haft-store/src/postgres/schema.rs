use super::{ConnectError, PostgresStore, Trouble};
use deadpool_postgres::Object;
use std::sync::Arc;
use std::time::Duration;

/// What brings the tables from one version of their form to the next; the first makes them.
///
/// One that was released is never changed.
const STEPS: [&str; KNOWN as usize] = [include_str!("schema/1.sql"), include_str!("schema/2.sql")];

pub(super) const KNOWN: u32 = 2;

/// For how long is waited at most until the tables are brought up to date: a journal of years is written once more.
const MOST_TIME: Duration = Duration::from_mins(10);

/// Tells whether a schema can be named so: the server keeps `pg_` for itself, and what is simple cannot be misread.
pub(super) fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    name.len() <= 63
        && !name.starts_with("pg_")
        && name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

/// Makes the tables, or brings them to the version that is known here.
pub(super) async fn bring_up_to_date(store: &PostgresStore) -> Result<(), ConnectError> {
    let schema = store.0.schema.clone();
    let work = Arc::clone(&store.0).work_within(
        MOST_TIME,
        |inner| &inner.durable,
        move |client| {
            Box::pin(async move {
                let found = version(client, &schema).await?;
                if found == Some(KNOWN) { Ok(KNOWN) } else { make(client, &schema).await }
            })
        },
    );
    let found = store.apart(work).await.map_err(|source| store.unusable(source))?;
    if found > KNOWN { Err(store.newer(found)) } else { Ok(()) }
}

/// Reads the version of the tables, if there are any.
pub(super) async fn version(
    client: &impl deadpool_postgres::GenericClient,
    schema: &str,
) -> Result<Option<u32>, Trouble> {
    // Asked of the catalogue by a query, which sees what others have made while the lock was waited for.
    let sql = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'version')";
    if !client.query_one(sql, &[&schema]).await?.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let row = client.query_opt(&format!("SELECT version FROM \"{schema}\".version"), &[]).await?;
    Ok(row.map(|row| u32::try_from(row.get::<_, i32>(0)).unwrap_or_default()))
}

/// Takes the steps that are missing, in one transaction that nobody else is in; gives the version there is then.
async fn make(client: &mut Object, schema: &str) -> Result<u32, Trouble> {
    let transaction = client.transaction().await?;
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
    transaction.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", &[&schema]).await?;
    let found = version(&transaction, schema).await?;
    let done = found.unwrap_or_default();
    let Some(missing) = STEPS.get(done as usize..).filter(|missing| !missing.is_empty()) else {
        return Ok(done);
    };
    if found.is_none() {
        // Whoever was given a schema need not have the right to make one, which is asked for also where it is there.
        let sql = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
        if !transaction.query_one(sql, &[&schema]).await?.try_get::<_, bool>(0)? {
            transaction.batch_execute(&format!("CREATE SCHEMA \"{schema}\"")).await?;
        }
        transaction
            .batch_execute(&format!(
                "CREATE TABLE \"{schema}\".version (version INTEGER NOT NULL); \
                 INSERT INTO \"{schema}\".version VALUES (0)"
            ))
            .await?;
    }
    for step in missing {
        transaction.batch_execute(step).await?;
    }
    transaction.batch_execute(&format!("UPDATE \"{schema}\".version SET version = {KNOWN}")).await?;
    transaction.commit().await?;
    Ok(KNOWN)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn a_schema_has_a_simple_name() {
        for name in ["haft", "_a1", "user", &"a".repeat(63)] {
            assert!(is_name(name), "{name}");
        }
        for name in
            ["", "pg_a", "1a", "Haft", "a-b", "a b", "a;DROP TABLE grants", "ä", "\"a\"", &"a".repeat(64)]
        {
            assert!(!is_name(name), "{name}");
        }
    }
}
