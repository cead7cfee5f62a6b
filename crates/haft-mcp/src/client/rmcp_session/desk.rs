use super::flights::Flights;
use super::message::request_parts;
use crate::client::link::Ending;
use crate::client::session::{Ask, Counterpart};
use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorCode, ErrorData, ServerNotification, ServerRequest,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, Service};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How much a server may ask at once.
const MOST_ASKS: usize = 16;

/// Is where a server's requests are answered.
pub(super) struct Desk {
    config: ClientConfig,
    flights: Arc<Flights>,
    ending: Arc<Ending>,
    counterpart: Arc<dyn Counterpart>,
    places: Semaphore,
}

impl Desk {
    pub(super) fn new(
        config: ClientConfig,
        flights: Arc<Flights>,
        ending: Arc<Ending>,
        counterpart: Arc<dyn Counterpart>,
    ) -> Self {
        Self { config, flights, ending, counterpart, places: Semaphore::new(MOST_ASKS) }
    }
}

impl Service<RoleClient> for Desk {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let (method, params) = request_parts(request);
        if method == "ping" {
            return Ok(ClientResult::empty(()));
        }
        let Ok(_place) = self.places.try_acquire() else {
            return Err(refusal(-32_000, "too much is asked at once".to_owned()));
        };
        let of = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => self.flights.watch_of(id),
            // Many services ask on the stream that belongs to no request, and mean the one that is under way.
            _ => self.flights.newest_watch(),
        };
        tokio::select! {
            answer = self.counterpart.answer(Ask { method, params }, of) => match answer {
                Ok(result) => Ok(ClientResult::CustomResult(CustomResult(result))),
                Err(refused) => Err(refusal(refused.code, refused.message)),
            },
            // The library would wait for the answer before it closes.
            () = context.ct.cancelled() => Err(refusal(-32_000, "it was cancelled".to_owned())),
            () = self.ending.over().cancelled() => Err(refusal(-32_000, "the connection ended".to_owned())),
        }
    }

    async fn handle_notification(
        &self,
        _notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // They were heard in their order, where they came in.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}

pub(super) fn refusal(code: i32, message: String) -> ErrorData {
    ErrorData::new(ErrorCode(code), message, None)
}
