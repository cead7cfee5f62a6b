use super::named::Places;
use super::outlined::Outlined;
use super::visit::OutlineVisit;
use super::{Request, named_report, outlined_report};
use crate::scan::scan;
use crate::watch::Watch;
use haft_core::{ToolError, ToolOutput};
use haft_workdir::WalkOptions;
use std::sync::Mutex;

/// Makes what the request asks for.
pub(super) fn search(request: &Request, watch: &dyn Watch) -> Result<ToolOutput, ToolError> {
    let options = WalkOptions::default().hidden(request.hidden).ignored(request.no_ignore);
    let seeds = vec![request.start.seed(&request.workdir, options, watch)?];
    let visit = OutlineVisit { request, large: Mutex::new(()) };
    let threads = request.options.threads;
    Ok(match &request.name {
        None => {
            let (outlined, rest) = scan(&visit, Outlined::new(request), seeds, threads, watch)?;
            outlined_report::output(request, &outlined, rest)
        }
        Some((pattern, role)) => {
            let (places, rest) = scan(&visit, Places::new(request, *role), seeds, threads, watch)?;
            named_report::output(request, pattern, *role, &places, rest)
        }
    })
}
