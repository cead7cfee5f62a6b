use super::EntryReader;
use super::fields::Fields;
use crate::client::config::document::{Key, Node, NodeValue};
use crate::client::config::servers_file::not_known;
use crate::{LoginConfig, RegisteredClient};
use haft_tools_core::nearest;
use std::collections::BTreeMap;

/// The fields of a login, each with how others write it.
pub(in crate::client::config) const FIELDS: [(&str, &[&str]); 6] = [
    ("client_id", &["clientId", "CLIENT_ID"]),
    ("client_secret", &["clientSecret", "CLIENT_SECRET"]),
    ("issuer", &[]),
    ("client_metadata_url", &["clientMetadataUrl"]),
    ("scopes", &["scope"]),
    ("redirect_port", &["redirectPort", "callbackPort"]),
];

/// Fields of other clients by which a person says where one logs in.
const PLACES: [&str; 4] = ["authServerMetadataUrl", "authorizationUrl", "tokenUrl", "redirectUri"];

impl EntryReader<'_> {
    /// Reads as whom haft logs in.
    pub(super) fn login(&mut self, fields: &Fields<'_>) -> LoginConfig {
        let mut login = LoginConfig::default();
        let Some((key, value)) = fields.get("login") else { return login };
        let NodeValue::Table(members) = &value.value else {
            self.unfit(key, value, "a table");
            return login;
        };
        let fields = self.fields_of_login(key, members);
        let mut text = |name: &str| {
            let (field, value) = fields.get(name)?;
            let text = self.text(field, value)?;
            if text.is_empty() || text.chars().any(char::is_control) {
                self.refuse(
                    &value.span,
                    Some(field),
                    "it is empty, or holds a control character; write it, or remove it",
                );
            }
            Some(text)
        };
        let (id, secret) = (text("client_id"), text("client_secret"));
        let issuer = self.address(&fields, "issuer");
        match (&fields.get("client_secret"), &id, &issuer) {
            (Some((field, value)), None, _) => {
                self.refuse(&value.span, Some(field), "it is of no client; write its `client_id`");
            }
            (Some((field, value)), Some(_), None) if !fields.contains_key("issuer") => {
                let message = "nothing says which authorization server it is for, and it is given to no other; write its \
                               address as `issuer`";
                self.refuse(&value.span, Some(field), message);
            }
            _ => {}
        }
        login.client = id.map(|id| RegisteredClient { secret, issuer, ..RegisteredClient::new(id) });
        login.client_metadata_url = self.address(&fields, "client_metadata_url");
        login.scopes = self.scopes(&fields);
        login.redirect_port = self.port(&fields);
        login
    }

    /// Sorts the fields by their names, each with the one that it has in the file as a whole.
    fn fields_of_login<'n>(
        &mut self,
        key: &Key,
        members: &'n [(Key, Node)],
    ) -> BTreeMap<&'static str, (String, &'n Node)> {
        let mut fields = BTreeMap::new();
        for (member, value) in members {
            let (word, field) = (member.text.as_str(), format!("{}.{}", key.text, member.text));
            if let Some((name, _)) =
                FIELDS.iter().find(|(name, others)| *name == word || others.contains(&word))
            {
                if fields.contains_key(name) {
                    self.refuse(&member.span, Some(&field), "it is written twice; remove one of them");
                }
                fields.insert(*name, (field, value));
            } else if PLACES.contains(&word) {
                let message = "it has no effect here; the server says where to log in, and `issuer` which one it may name";
                self.warn(&member.span, &field, message);
            } else {
                let meant = nearest(word, FIELDS.iter().map(|(name, _)| *name)).first().copied();
                self.warn(&member.span, &field, not_known(meant));
            }
        }
        fields
    }

    fn address(&mut self, fields: &BTreeMap<&'static str, (String, &Node)>, name: &str) -> Option<String> {
        let (field, value) = fields.get(name)?;
        let address = self.text(field, value)?;
        self.check_address(field, value, &address);
        Some(address)
    }

    /// Reads what is asked for: a list, or one text with blanks between.
    fn scopes(&mut self, fields: &BTreeMap<&'static str, (String, &Node)>) -> Vec<String> {
        let Some((field, value)) = fields.get("scopes") else { return Vec::new() };
        match &value.value {
            NodeValue::List(items) => items.iter().filter_map(|item| self.text(field, item)).collect(),
            _ => self
                .text(field, value)
                .iter()
                .flat_map(|text| text.split_whitespace())
                .map(str::to_owned)
                .collect(),
        }
    }

    fn port(&mut self, fields: &BTreeMap<&'static str, (String, &Node)>) -> Option<u16> {
        let (field, value) = fields.get("redirect_port")?;
        let port = self.text(field, value)?.parse().ok().filter(|port| *port > 0);
        if port.is_none() {
            self.refuse(&value.span, Some(field), "it is not a port; write a number from 1 to 65535");
        }
        port
    }
}
