use super::Finding;
use crate::openapi::Documents;
use haft::Workdir;
use std::time::Duration;
use tokio::time::timeout;

/// How long a document that is a file may take to be read.
const TIME: Duration = Duration::from_secs(5);

/// Reads the documents that are configured; those in the network only with so much time for it.
pub(super) async fn look(workdir: Workdir, connecting: Option<Duration>) -> Vec<Finding> {
    // What is wrong with the files is told as such.
    let Ok(documents) = Documents::of(&workdir) else { return Vec::new() };
    let mut findings = Vec::new();
    for name in documents.untrusted() {
        let finding =
            Finding::note(about(name), "it is of the workspace's `haft.toml`, which is not trusted");
        findings.push(finding.next("look at the file, then run `haft policy trust`"));
    }
    let mut reading = Vec::new();
    for document in documents.into_all() {
        let name = document.name().to_owned();
        let time = if document.is_remote() { connecting } else { Some(TIME) };
        let Some(time) = time else {
            let text = "it is in the network, and was not asked for";
            findings.push(Finding::note(about(&name), text).next("`haft doctor --connect` asks for it"));
            continue;
        };
        let look = tokio::spawn(async move { timeout(time, document.operations()).await });
        reading.push((name, time, look));
    }
    for (name, time, look) in reading {
        let end = look.abort_handle();
        let about = about(&name);
        findings.push(match look.await {
            Ok(Ok(Ok(0))) => Finding::warning(about, "it has no operation that is chosen")
                .next(format!("see `haft openapi check`, and `select` in `[openapi.{name}]`")),
            Ok(Ok(Ok(1))) => Finding::ok(about, "1 operation"),
            Ok(Ok(Ok(count))) => Finding::ok(about, format!("{count} operations")),
            Ok(Ok(Err(error))) => Finding::of_error(about, &error)
                .next(format!("correct `[openapi.{name}]` of `haft.toml`, or the document")),
            Ok(Err(_)) => {
                let text = format!("it was not read within {} s", time.as_secs());
                Finding::error(about, text).next("see whether its host or its disk answers, then try again")
            }
            Err(_) => Finding::error(about, "reading it failed, which is a fault of haft's own")
                .next("report it; the other findings hold"),
        });
        end.abort();
    }
    findings
}

fn about(name: &str) -> String {
    format!("openapi {name}")
}
