//! The three wire formats, each with a model that asks a server on this machine.

use crate::server::Server;
pub(crate) use crate::turns::{quick, take_turn, told};
use haft_core::Message;
use haft_http::{AddressPolicy, HttpClient};
use haft_model::{Delta, Model, ModelCapabilities, ModelError, ModelRequest, ModelTurn};
use haft_providers::{AnthropicModel, ApiKey, OpenAiChatModel, OpenAiResponsesModel, Patience, Service};
use std::net::SocketAddr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    Chat,
    Responses,
}

pub(crate) const ALL: [Wire; 3] = [Wire::Anthropic, Wire::Chat, Wire::Responses];

pub(crate) const KEY: &str = "sk-test-Topsecret-0123456789";

impl Wire {
    /// Reads one of the recorded answers.
    pub(crate) fn transcript(self, name: &str) -> String {
        let folder = match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "chat",
            Self::Responses => "responses",
        };
        let path = format!("{}/tests/it/transcripts/{folder}/{name}.sse", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Makes a model that is asked at an address, waits little and tries again at once.
    pub(crate) fn model(self, address: SocketAddr) -> Box<dyn Model> {
        self.patient_model(address, quick())
    }

    pub(crate) fn patient_model(self, address: SocketAddr, patience: Patience) -> Box<dyn Model> {
        let (service, capabilities) = (service(address), capabilities());
        match self {
            Self::Anthropic => Box::new(AnthropicModel::new(service, capabilities).patience(patience)),
            Self::Chat => Box::new(OpenAiChatModel::new(service, capabilities).patience(patience)),
            Self::Responses => Box::new(OpenAiResponsesModel::new(service, capabilities).patience(patience)),
        }
    }
}

pub(crate) fn capabilities() -> ModelCapabilities {
    ModelCapabilities::new("test-model").images().parallel_tool_calls().reasoning()
}

pub(crate) fn service(address: SocketAddr) -> Service {
    let http = HttpClient::new(AddressPolicy::public().loopback()).unwrap();
    let service = Service::new(http, &format!("http://{address}/v1/")).unwrap();
    service.key_header("x-api-key", ApiKey::new(KEY).unwrap()).unwrap()
}

pub(crate) async fn ask(server: &Server, wire: Wire) -> (Vec<Delta>, Result<ModelTurn, ModelError>) {
    let model = wire.model(server.address);
    take_turn(&*model, ModelRequest::new([Message::user("Go on.")])).await
}
