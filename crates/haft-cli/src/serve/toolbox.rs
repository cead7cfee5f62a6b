use super::clients::{ClientSettings, Clients};
use super::directory::Directory;
use super::instructions::{self, instructions};
use super::place::{LeftOut, Place};
use super::places::Places;
use super::waiting_calls::WaitingCalls;
use crate::changes::ChangeQuota;
use crate::cluster::ServedCluster;
use crate::config::Configuration;
use crate::exit::{self, say_note};
use crate::kept_state::KeptState;
use crate::opened_workdir::{self, OpenedWorkdir};
use crate::other_root::OtherRoot;
use crate::policy_setup::{PolicyInForce, PolicyOptions, PolicySetup};
use crate::task::{SERVED, Task, What};
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use async_trait::async_trait;
use haft::core::RunId;
use haft::mcp::{Caller, Principal, Toolbox, Toolset};
use haft::shell::ScriptsApart;
use haft::tools_core::{Changes, DenyAll, Grants, Journal, Mode, PendingStore};
use haft::{CallScope, LocalExecutor, ToolExecutor, ToolRegistry};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How long a call that is cancelled may take to end: the whole process has a second.
const GRACE: Duration = Duration::from_millis(300);

/// How many toolsets are kept that nobody uses now.
const MOST_IDLE: usize = 32;

/// How many runs are known as those that are served, the latest.
const MOST_RUNS: usize = 256;

/// Says what is served.
pub(super) struct Settings {
    pub(super) directory: Directory,
    /// The directories that tools work in beside that of a client.
    pub(super) roots: Vec<OtherRoot>,
    pub(super) left_out: LeftOut,
    /// How much is kept to undo what is changed.
    pub(super) quota: ChangeQuota,
    /// What the command line says of the policy.
    pub(super) policy: PolicyOptions,
    pub(super) clients: Clients,
    /// For how long calls stay open that others than their clients are asked about, if others are.
    pub(super) attended: Option<Duration>,
    /// The engine whose workers make the calls, if any do.
    pub(super) cluster: Option<ServedCluster>,
}

/// Gives each client what its calls are made with: the tools of its directory, under its own policy.
#[derive(Clone)]
pub(super) struct ServedToolsets(Arc<Inner>);

struct Inner {
    settings: Settings,
    state: Arc<KeptState>,
    places: Places,
    toolsets: Mutex<Toolsets>,
    runs: Mutex<VecDeque<RunId>>,
    /// What was said of the policy files.
    said: Mutex<BTreeSet<String>>,
}

#[derive(Default)]
struct Toolsets {
    known: HashMap<Key, Weak<Toolset>>,
    /// Those that were used last, so that a client without a connection finds its own again.
    recent: VecDeque<Arc<Toolset>>,
}

/// Says whose calls are made with one toolset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    principal: Principal,
    session: Option<Arc<str>>,
    directory: PathBuf,
}

impl ServedToolsets {
    pub(super) fn new(settings: Settings, state: Arc<KeptState>, user: UserDirectories) -> Self {
        Self(Arc::new(Inner {
            settings,
            state,
            places: Places::new(user),
            toolsets: Mutex::default(),
            runs: Mutex::default(),
            said: Mutex::default(),
        }))
    }

    /// Knows the directory that this is started in as it was read.
    pub(super) fn started_in(&self, directory: &Path, opened: Result<OpenedWorkdir>) -> &Self {
        self.0.places.start_in(directory, opened);
        self
    }

    /// The runs whose calls are served, the latest first.
    pub(super) fn runs(&self) -> Vec<RunId> {
        lock(&self.0.runs).iter().cloned().collect()
    }

    /// The directories that are worked in.
    pub(super) fn places(&self) -> &Places {
        &self.0.places
    }

    /// Says how many requests a minute are answered to whom.
    pub(super) fn rates(&self) -> BTreeMap<Principal, NonZeroU32> {
        self.0.settings.clients.rates()
    }

    /// Makes what the owner of this process would get, so that what is wrong is known at once; starts its servers.
    pub(super) async fn check(&self) -> Result<()> {
        for principal in std::iter::once(Principal::local()).chain(self.0.settings.clients.named()) {
            let name = principal.clone();
            let made = async {
                let caller = Caller::new(principal);
                let (client, directory) = self.0.chosen(&caller, None)?;
                let place = self.0.place(&directory)?;
                let as_opened = |place: &Place| Ok(Arc::clone(&place.configuration));
                self.0.make(caller, client, directory, place, as_opened).await
            };
            made.await.with_context(|| format!("the client `{}` cannot be served", name.as_str()))?;
        }
        self.0.places.started();
        Ok(())
    }

    /// Ends all servers at once, and waits for that.
    pub(super) async fn stop(&self) {
        self.0.places.stop().await;
    }
}

impl Inner {
    /// Says what holds for a client, and in which directory it works.
    fn chosen(&self, caller: &Caller, roots: Option<&[String]>) -> Result<(ClientSettings, PathBuf)> {
        let client = self.settings.clients.get(&caller.principal);
        let directory = match &client.workdir {
            Some(path) => Directory::named(path)?,
            None => self.settings.directory.choose(&caller.principal, roots),
        };
        Ok((client, directory))
    }

    /// Opens a directory, unless it is open.
    fn place(&self, directory: &Path) -> Result<Arc<Place>> {
        self.places.open(directory, &self.settings, || lock(&self.toolsets).recent.clear())
    }

    /// Makes a toolset; reads policy files, so it takes a thread that may wait.
    async fn make(
        self: &Arc<Self>,
        caller: Caller,
        client: ClientSettings,
        directory: PathBuf,
        place: Arc<Place>,
        configured: impl FnOnce(&Place) -> Result<Arc<Configuration>> + Send + 'static,
    ) -> Result<Toolset> {
        let inner = Arc::clone(self);
        let making = tokio::task::spawn_blocking(move || {
            let configuration = configured(&place)?;
            inner.made(&caller, &client, &directory, &place, &configuration)
        });
        making
            .await
            .context("setting up the tools of a client broke, which is a fault of haft's own; report it")?
    }

    fn made(
        &self,
        caller: &Caller,
        client: &ClientSettings,
        directory: &Path,
        place: &Arc<Place>,
        configuration: &Configuration,
    ) -> Result<Toolset> {
        let options = client.policy.as_ref().unwrap_or(&self.settings.policy);
        let tools = place.catalog.snapshot();
        let setup = PolicySetup::new(configuration, &place.workdir, Some(directory));
        let mut policy = setup.in_force(options, &tools, &configuration.catalog()?)?;
        // The tools are confined as was said for all clients, and this one may be in another mode.
        policy.check_sandbox(place.sandbox, self.settings.policy.sandbox)?;
        self.print_once(policy.notes());
        policy.loaded.limits.grace = policy.loaded.limits.grace.min(GRACE);
        let instructions = match &self.settings.cluster {
            // It is the policy of workers, which may be another.
            Some(_) => instructions::OF_WORKERS.to_owned(),
            None => instructions(&policy, &tools),
        };

        let run = run_of(caller, options, directory)?;
        self.note_run(&run);
        // A grant is about one client, and what is recorded and shown says which.
        let who = format!("mcp:{}", caller.principal.as_str());
        let mut scope = CallScope::new(run.clone()).with_agent(who);
        if self.settings.cluster.is_some()
            && let Some(mode) = sent_mode(options.mode, policy.mode.get())
        {
            // It goes with each call, and takes away from what workers allow.
            scope = scope.with_mode(mode);
        }
        if caller.session.is_none() {
            // Nobody knows how many work as this client, or which script comes of which of them.
            scope = scope.with_extension(ScriptsApart);
        }
        let mut task = Task::new(
            What::Serve { client: caller.principal.as_str().to_owned() },
            place.workdir.root_path(),
            options,
        )?;
        task.roots.clone_from(&place.roots);
        let waiting =
            WaitingCalls { state: Arc::clone(&self.state), run, task, is_said: AtomicBool::new(false) };
        let waiting = Arc::new(waiting);

        let executor = match &self.settings.cluster {
            Some(cluster) => {
                let rules = (policy.loaded.policy.clone(), policy.loaded.limits.clone());
                let journal = Journal::new(Arc::clone(&self.state) as _);
                let journalled = (journal, self.places.redactor.clone());
                cluster.executor(Arc::clone(&waiting) as _, rules, policy.mode.clone(), journalled)
            }
            None => self.local(caller, place, &policy, tools.clone(), Arc::clone(&waiting) as _)?,
        };
        let served = Arc::clone(place);
        let toolset = Toolset::new(move || served.catalog.snapshot(), executor, scope, waiting);
        let toolset = toolset.outputs(Arc::clone(&place.outputs.store)).instructions(instructions);
        Ok(match self.settings.attended {
            Some(stays_open) => toolset.attended(stays_open),
            None => toolset,
        })
    }

    /// Makes what runs calls in this process.
    fn local(
        &self,
        caller: &Caller,
        place: &Place,
        policy: &PolicyInForce,
        tools: ToolRegistry,
        waiting: Arc<dyn PendingStore>,
    ) -> Result<Arc<dyn ToolExecutor>> {
        let mut grants =
            Grants::kept_in(Arc::clone(&self.state) as _).workspace(opened_workdir::name(&place.workdir)?);
        if let Some(session) = &caller.session {
            grants = grants.session(Arc::clone(session));
        }
        let executor = policy
            .apply(LocalExecutor::builder(tools))
            // Each call brings the client that can be asked.
            .approver(DenyAll)
            .grants(grants)
            .pending(waiting)
            .journal(Journal::new(Arc::clone(&self.state) as _))
            .outputs(Arc::clone(&place.outputs.store))
            .redactor(self.places.redactor.clone())
            .build();
        Ok(Arc::new(executor))
    }

    fn note_run(&self, run: &RunId) {
        let mut runs = lock(&self.runs);
        runs.retain(|known| known != run);
        runs.push_front(run.clone());
        runs.truncate(MOST_RUNS);
    }

    /// Says on standard error what of the policy files does not count, to the person who runs this, and once.
    fn print_once(&self, notes: Vec<String>) {
        let mut said = lock(&self.said);
        for note in notes.into_iter().filter(|note| said.insert(note.clone())) {
            say_note(&note);
        }
    }

    async fn toolset(self: &Arc<Self>, caller: &Caller, roots: Option<&[String]>) -> Result<Arc<Toolset>> {
        let (client, directory) = self.chosen(caller, roots)?;
        let key = Key {
            principal: caller.principal.clone(),
            session: caller.session.clone(),
            directory: directory.clone(),
        };
        if let Some(toolset) = self.known(&key) {
            return Ok(toolset);
        }
        let place = self.place(&directory)?;
        place.ready().await;
        let inner = Arc::clone(self);
        // Files may have changed since the directory was opened: a client that comes is served by what they say now, and by
        // what is trusted of them now.
        let as_it_is = move |place: &Place| Ok(Arc::new(inner.places.configuration(&place.workdir)?));
        let toolset = self.make(caller.clone(), client, directory, place, as_it_is).await?;
        Ok(self.keep(key, Arc::new(toolset)))
    }

    fn known(&self, key: &Key) -> Option<Arc<Toolset>> {
        let mut toolsets = lock(&self.toolsets);
        let toolset = toolsets.known.get(key)?.upgrade()?;
        toolsets.use_again(&toolset);
        Some(toolset)
    }

    /// Keeps a toolset, or gives the one that was made at the same time.
    fn keep(&self, key: Key, toolset: Arc<Toolset>) -> Arc<Toolset> {
        let mut toolsets = lock(&self.toolsets);
        let toolset = toolsets.known.get(&key).and_then(Weak::upgrade).unwrap_or(toolset);
        toolsets.known.retain(|_, known| known.strong_count() > 0);
        toolsets.known.insert(key, Arc::downgrade(&toolset));
        toolsets.use_again(&toolset);
        toolset
    }
}

impl Toolsets {
    fn use_again(&mut self, toolset: &Arc<Toolset>) {
        self.recent.retain(|recent| !Arc::ptr_eq(recent, toolset));
        self.recent.push_front(Arc::clone(toolset));
        self.recent.truncate(MOST_IDLE);
    }
}

#[async_trait]
impl Toolbox for ServedToolsets {
    async fn toolset(&self, caller: &Caller, roots: Option<&[String]>) -> Result<Arc<Toolset>, String> {
        self.0.toolset(caller, roots).await.map_err(|error| {
            // A client is not told of paths and policies of this machine.
            exit::note(error.as_ref());
            "this client cannot be served now; the person who runs `haft serve` is told why in its log"
                .to_owned()
        })
    }

    fn wants_roots(&self) -> bool {
        self.0.settings.directory.may_be_chosen()
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.0.places.changes.changes())
    }
}

/// Names the run of a client's calls: the same one each time that it works in a directory under the same policy, so that an
/// answer is found again; one of its own for a session.
fn run_of(caller: &Caller, options: &PolicyOptions, directory: &Path) -> Result<RunId> {
    let policy = options.policy.as_deref().map(Path::to_string_lossy).unwrap_or_default();
    let profile = options.profile.map(|profile| profile.to_string()).unwrap_or_default();
    let mode = options.mode.map(|mode| mode.to_string()).unwrap_or_default();
    let directory = directory.to_string_lossy();
    let session = caller.session.as_deref().unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [caller.principal.as_str(), &profile, &policy, &mode, &directory, session] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut name = SERVED.to_owned();
    for byte in &hash.finalize()[..16] {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name.parse()?)
}

/// Says which mode workers are told of: the one that was given, and otherwise that of the policy's files where it is a strict one.
fn sent_mode(given: Option<Mode>, in_force: Mode) -> Option<Mode> {
    given.or_else(|| Mode::default().is_wider_than(in_force).then_some(in_force))
}

/// Nothing panics half-way through a change while a lock is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Mode, sent_mode};

    #[test]
    fn a_strict_mode_of_the_files_goes_with_calls_and_a_wide_one_is_left_to_workers() {
        let sent: Vec<Option<Mode>> = Mode::ALL.iter().map(|mode| sent_mode(None, *mode)).collect();
        assert_eq!(sent, [Some(Mode::Plan), Some(Mode::DenyUnknown), None, None, None]);
        // What is given is in force.
        for &mode in Mode::ALL {
            assert_eq!(sent_mode(Some(mode), mode), Some(mode));
        }
    }
}
