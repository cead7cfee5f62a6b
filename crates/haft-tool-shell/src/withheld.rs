//! Variables that a command may have missed, because their names or values look like secrets.

use haft_process::Environment;

use crate::report::Ending;

/// What commands print that were not let in, in lower case.
const REFUSALS: [&str; 32] = [
    "401 unauthorized",
    "access token",
    "api key",
    "api_key",
    "apikey",
    "authentication failed",
    "authentication is required",
    "authentication required",
    "authorization required",
    "bad credentials",
    "code 401",
    "code e401",
    "could not read password",
    "could not read username",
    "credentials are not",
    "credentials not",
    "error 401",
    "error: 401",
    "http 401",
    "invalid credentials",
    "invalid token",
    "log in",
    "login required",
    "no credentials",
    "not authenticated",
    "not logged in",
    "permission denied (publickey",
    "status 401",
    "token is",
    "unable to locate credentials",
    "unauthenticated",
    "unauthorized",
];

/// How many names are told, and how long each may be, in bytes.
const MOST_NAMES: usize = 12;
const MOST_NAME_BYTES: usize = 64;

/// Names the variables that were not passed on, where a command failed that seems not to have been let in; in whole lines.
pub(crate) fn remark(output: &str, ending: Ending, environment: &Environment) -> String {
    let is_refusal = |output: String| REFUSALS.iter().any(|refusal| output.contains(refusal));
    if ending == Ending::Exited(0) || environment.withheld().is_empty() || !is_refusal(output.to_lowercase())
    {
        return String::new();
    }
    let (mut names, mut more) = (Vec::new(), 0);
    for name in environment.withheld() {
        let is_plain = name.len() <= MOST_NAME_BYTES
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_plain && names.len() < MOST_NAMES { names.push(format!("`{name}`")) } else { more += 1 }
    }
    if more > 0 {
        names.push(format!("{more} more"));
    }
    format!(
        "[commands are not given variables that look like secrets, of which there are {}; if the command needs one, ask the \
         user to run it]\n",
        names.join(", ")
    )
}
