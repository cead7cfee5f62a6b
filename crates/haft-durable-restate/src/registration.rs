use crate::Error;
use bytes::Bytes;
use haft_http::{Exchange, HttpClient};
use serde_json::json;
use url::Url;

/// Tells an engine where a worker is: by the address of its admin interface, and the address that the engine reaches the
/// worker by.
///
/// Several workers of one pool stand behind one address, of a proxy or of a service, and are told once. Calls that are begun
/// from now on go to what was told last; those that were begun before stay where they are, so an address is given up only
/// when its calls have ended. A worker with other tools gets another address.
///
/// ```no_run
/// # // Not run: it would need an engine.
/// # async fn example(worker: haft_durable_restate::Worker) -> Result<(), Box<dyn std::error::Error>> {
/// use haft_durable_restate::register;
/// use haft_http::{AddressPolicy, HttpClient};
///
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:9080").await?;
/// let served = worker.serve(listener, async { tokio::signal::ctrl_c().await.unwrap_or_default() });
///
/// // In the meantime, once: the engine asks the worker what it does, so it has to serve.
/// let told = async {
///     let http = HttpClient::new(AddressPolicy::public().loopback())?;
///     register(&http, &"http://127.0.0.1:9070".parse()?, &"http://127.0.0.1:9080".parse()?).await?;
///     Ok::<_, Box<dyn std::error::Error>>(())
/// };
/// let (served, told) = tokio::join!(served, told);
/// # served?;
/// # told
/// # }
/// ```
///
/// # Errors
///
/// When the engine does not answer, or does not take the worker.
///
/// # Cancel safety
///
/// The worker is told of or not; telling it again changes nothing.
pub async fn register(http: &HttpClient, admin: &Url, worker: &Url) -> Result<(), Error> {
    let unreachable = |source| Error::Unreachable { address: admin.to_string(), source };
    let address = format!("{}/deployments", admin.as_str().trim_end_matches('/'));
    let body = Bytes::from(json!({ "uri": worker.as_str() }).to_string());
    let request = http::Request::post(&address)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(|source| Error::Address { address: admin.to_string(), source: Box::new(source) })?;
    let (head, body) = http.send(request, Exchange::default()).await.map_err(unreachable)?.into_parts();
    if head.status.is_success() {
        return Ok(());
    }
    let said = body.bytes().await.map_err(unreachable)?;
    let said = String::from_utf8_lossy(&said).chars().take(1024).collect();
    Err(Error::NotRegistered { worker: worker.to_string(), status: head.status.as_u16(), said })
}
