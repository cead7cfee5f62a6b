use super::export::{Counted, Exporter};
use super::lost::Lost;
use super::{Telling, look};
use crate::config::Settings;
use crate::exit::note;
use anyhow::{Context as _, Result};
use haft::tools_core::SpanContent;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Key, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracerProvider};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

/// How long the end of the command waits for what is still to be sent.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// What sends spans in this process, once somebody has begun, and nothing where they are not to be sent.
static EXPORT: OnceLock<Option<Export>> = OnceLock::new();

struct Export {
    provider: SdkTracerProvider,
    content: SpanContent,
    lost: Arc<Lost>,
}

/// Has spans exported from now on, if they are to be by these settings; those of the first directory count.
///
/// What is wrong with it is said, and calls are made all the same.
pub(crate) fn begin(settings: &Settings, telling: Telling) {
    EXPORT.get_or_init(|| {
        Export::of(settings, telling).unwrap_or_else(|error| {
            note(error.context("no spans are exported").as_ref());
            None
        })
    });
}

/// Says whether spans hold what calls are about.
pub(crate) fn span_content() -> SpanContent {
    EXPORT.get().and_then(Option::as_ref).map_or(SpanContent::Omitted, |export| export.content)
}

/// Sends what is left, and says what is lost; for a thread that may wait.
pub(crate) fn end() {
    let Some(export) = EXPORT.get().and_then(Option::as_ref) else { return };
    // Whether it came to its end in time is told by what was sent.
    let _ = export.provider.shutdown_with_timeout(LAST_WAIT);
    export.lost.tell();
}

impl Export {
    fn of(settings: &Settings, telling: Telling) -> Result<Option<Self>> {
        let Some(sent) = look(settings)? else { return Ok(None) };
        let client = sent.named_host().client()?;
        let content = if sent.content { SpanContent::Recorded } else { SpanContent::Omitted };
        let lost = Arc::new(Lost::new(sent.host(), telling));
        let exporter = Exporter::new(client, Arc::new(sent), Handle::current(), Arc::clone(&lost));
        let batches = BatchSpanProcessor::builder(exporter).build();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_span_processor(Counted { batches, lost: Arc::clone(&lost) })
            .build();
        // What is logged may be about anything, and spans of other libraries are not told here.
        let own = filter_fn(|of| of.is_span() && of.target().starts_with("haft_"));
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("haft"))
            .with_location(false)
            .with_threads(false)
            .with_level(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(own.with_max_level_hint(LevelFilter::INFO));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::set_global_default(subscriber).context("something else takes the spans")?;
        Ok(Some(Self { provider, content, lost }))
    }
}

/// Says whose spans these are: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` count.
fn resource() -> Resource {
    let name = Resource::builder().build().get(&Key::from_static_str("service.name"));
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let builder =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if is_named { builder.build() } else { builder.with_service_name("haft").build() }
}
