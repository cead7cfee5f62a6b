use super::{Finding, state};
use crate::config::UserConfig;
use crate::shared_store::{self, Database};

const ABOUT: &str = "store";

/// Looks whether things can be remembered in the database that is named, if one is; it is asked only where others in the network
/// are.
pub(super) async fn look(connects: bool) -> Vec<Finding> {
    let find = || Database::of_user(UserConfig::read()?.file.as_ref());
    let database = match tokio::task::spawn_blocking(find).await {
        Ok(Ok(Some(database))) => database,
        Ok(Ok(None)) | Err(_) => return Vec::new(),
        Ok(Err(error)) => return vec![Finding::of_error(ABOUT, &error)],
    };
    if let Some(absent) = shared_store::absent() {
        return vec![Finding::error(ABOUT, absent)];
    }
    let text = format!("what is remembered is in `{}`", database.url);
    if !connects {
        return vec![Finding::ok(ABOUT, text).next("`haft doctor --connect` asks whether it can be used")];
    }
    let found = match shared_store::examine(&database).await {
        Ok(Some(found)) => found,
        Ok(None) => return vec![Finding::ok(ABOUT, format!("{text}, where there is nothing yet"))],
        Err(error) => return vec![Finding::of_error(ABOUT, &error)],
    };
    let mut findings = vec![Finding::ok(ABOUT, format!("{text}, {}", state::extent(&found)))];
    state::waiting(&found, &mut findings);
    findings
}
