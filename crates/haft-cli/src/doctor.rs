//! `haft doctor`: looks whether what haft needs here is there and works, and says what to do where it is not.
//!
//! It changes nothing, each look stands alone and has its time, and what one of them meets does not keep the others from
//! being told. So each reads of the configuration what it needs.

mod configuration;
mod documents;
mod finding;
mod look;
mod permissions;
mod print;
mod programs;
mod provider_keys;
mod sandbox;
mod servers;
mod state;
mod store;
mod telemetry;

pub(crate) use finding::{Finding, Severity};
pub(crate) use print::DoctorReport;

use crate::exit::Exit;
use crate::opened_workdir;
use crate::printed::print_json;
use anyhow::Result;
use clap::Args;
use haft::Workdir;
use look::{Look, Looks};
use std::path::PathBuf;
use std::time::Duration;

/// For how long one look is waited for that reads files and starts nothing but what tells its version.
const LOOK: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// The directory the tools work in; the current one by default
    #[arg(long, value_name = "DIR")]
    workdir: Option<PathBuf>,
    /// Start the MCP servers that may be, and ask for documents and services in the network, too
    #[arg(long)]
    connect: bool,
    /// How long all of that may take, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=600)
    )]
    connect_time: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Looks at everything, and says what was found.
pub(crate) async fn doctor(options: DoctorOptions) -> Result<Exit> {
    // What fails is told as a finding, and not twice.
    std::panic::set_hook(Box::new(|_| {}));
    let connecting = options.connect.then(|| Duration::from_secs(options.connect_time));
    let time = connecting.map_or(LOOK, |time| time + LOOK);
    let mut looks = Looks::default();
    let workdir = opened_workdir::workdir(options.workdir.as_deref());
    if let Ok(workdir) = &workdir {
        let here = |look: fn(&Workdir) -> Vec<Finding>| {
            let workdir = workdir.clone();
            Look::Blocking(Box::new(move || look(&workdir)))
        };
        looks.add("configuration", LOOK, here(configuration::look));
        looks.add("workdir", LOOK, here(permissions::of_workdir));
        looks.add("agent", LOOK, here(provider_keys::look));
        looks.add("sandbox", LOOK, here(sandbox::look));
        looks.add(
            "telemetry",
            time,
            Look::Waiting(Box::pin(telemetry::look(workdir.clone(), options.connect))),
        );
        looks.add("mcp", time, Look::Waiting(Box::pin(servers::look(workdir.clone(), connecting))));
        looks.add("openapi", time, Look::Waiting(Box::pin(documents::look(workdir.clone(), connecting))));
    }
    looks.add("programs", LOOK, Look::Waiting(Box::pin(programs::look())));
    looks.add("state", LOOK, Look::Blocking(Box::new(state::look)));
    looks.add("store", time, Look::Waiting(Box::pin(store::look(options.connect))));
    looks.add("files", LOOK, Look::Blocking(Box::new(permissions::of_own_places)));
    let mut findings = Vec::new();
    let shown = match workdir {
        Ok(workdir) => Some(workdir.root_path().to_owned()),
        Err(error) => {
            findings.push(
                Finding::of_error("workdir", &error).next("name an existing directory with `--workdir`"),
            );
            None
        }
    };
    findings.extend(looks.all().await);
    let is_well = findings.iter().all(|finding| finding.severity < Severity::Error);
    if options.json {
        print_json(&DoctorReport::new(shown.as_deref(), findings))?;
    } else {
        print::print(&findings);
    }
    Ok(if is_well { Exit::Done } else { Exit::Failed })
}
