use super::EntryReader;
use super::fields::Fields;
use crate::client::address::{Refusal, checked_address};
use crate::client::config::document::{Node, NodeValue};
use crate::{RemoteServer, ServerProgram, Transport};
use haft_tools_core::{listed, nearest};
use std::ops::Range;

const TYPES: [&str; 6] = ["stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "unix"];

impl EntryReader<'_> {
    pub(super) fn transport(&mut self, fields: &Fields<'_>, whole: &Range<usize>) -> Option<Transport> {
        let ways = ["command", "url", "unix"];
        let written: Vec<&str> = ways.into_iter().filter(|way| fields.contains_key(way)).collect();
        let way = match (self.way(fields), written.as_slice()) {
            (Err(()), _) => return None,
            (Ok(Some(way)), written) if written.contains(&way) => way,
            (Ok(Some(way)), _) => {
                self.refuse(whole, None, format!("a server of its type needs `{way}`; write it"));
                return None;
            }
            (Ok(None), [way]) => way,
            (Ok(None), []) => {
                let message = "nothing says how it is reached; write `command`, `url` or `unix`";
                self.refuse(whole, None, message);
                return None;
            }
            (Ok(None), several) => {
                let several = listed(several.iter().copied(), "and");
                self.refuse(whole, None, format!("it has {several}; write `type`, or remove all but one"));
                return None;
            }
        };
        self.warn_of_others(fields, way);
        match way {
            "command" => self.program(fields),
            "url" => self.service(fields),
            _ => self.path(fields, "unix").map(Transport::Unix),
        }
    }

    /// Gives the field that the type calls for, if the type is written.
    fn way(&mut self, fields: &Fields<'_>) -> Result<Option<&'static str>, ()> {
        let Some((key, value)) = fields.get("type") else { return Ok(None) };
        let NodeValue::Text(word) = &value.value else {
            self.unfit(key, value, "a text");
            return Err(());
        };
        match word.as_str() {
            "stdio" => Ok(Some("command")),
            "unix" => Ok(Some("unix")),
            word if TYPES.contains(&word) => Ok(Some("url")),
            "sse" => {
                let message = "the transport of 2024 is not spoken; if the server has streamable HTTP, too, write `http`";
                self.refuse(&value.span, Some(&key.text), message);
                Err(())
            }
            word => {
                let near = nearest(word, TYPES);
                let meant = listed(if near.is_empty() { TYPES[..2].to_vec() } else { near }, "or");
                self.refuse(
                    &value.span,
                    Some(&key.text),
                    format!("`{word}` is not a transport; write {meant}"),
                );
                Err(())
            }
        }
    }

    fn warn_of_others(&mut self, fields: &Fields<'_>, way: &str) {
        let others: &[&str] = match way {
            "command" => &["url", "headers", "login", "authorities", "unix"],
            "url" => &["command", "args", "env", "cwd", "unix"],
            _ => &["command", "args", "env", "cwd", "url", "headers", "login", "authorities"],
        };
        for (key, value) in others.iter().filter_map(|name| fields.get(name)) {
            let is_empty = match &value.value {
                NodeValue::List(items) => items.is_empty(),
                NodeValue::Table(members) => members.is_empty(),
                _ => false,
            };
            if !is_empty {
                self.warn(
                    &key.span,
                    &key.text,
                    format!("it has no effect on a server that is reached by `{way}`"),
                );
            }
        }
    }

    fn program(&mut self, fields: &Fields<'_>) -> Option<Transport> {
        let (key, value) = fields.get("command")?;
        let (command, mut arguments) = match &value.value {
            // Some write the program and its arguments as one list.
            NodeValue::List(items) if !items.is_empty() => {
                let mut texts = self.texts(key, items)?.into_iter();
                (texts.next()?, texts.collect())
            }
            _ => (self.text(&key.text, value)?, Vec::new()),
        };
        if command.trim().is_empty() {
            self.refuse(&value.span, Some(&key.text), "it is empty; write the program to start");
        }
        if let Some((key, value)) = fields.get("args") {
            match &value.value {
                NodeValue::List(items) => arguments.extend(self.texts(key, items)?),
                _ => self.unfit(key, value, "a list of texts"),
            }
        }
        let variables = self.pairs(fields, "env", |name, value| {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err("it cannot name a variable; write letters, digits and `_`");
            }
            if value.contains('\0') { Err("its value holds a NUL; take it out") } else { Ok(()) }
        });
        let mut program = ServerProgram::new(command, arguments);
        program.variables = variables.into_iter().map(|(name, value)| (name, value.into())).collect();
        program.directory = self.path(fields, "cwd");
        Some(Transport::Stdio(program))
    }

    fn service(&mut self, fields: &Fields<'_>) -> Option<Transport> {
        let (key, value) = fields.get("url")?;
        let address = self.text(&key.text, value);
        let headers = self.pairs(fields, "headers", |name, value| {
            let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || !name.chars().all(is_token) {
                return Err("it cannot name a header; write letters, digits and `-`");
            }
            let is_fit = value.chars().all(|character| !character.is_control() || character == '\t');
            if is_fit {
                Ok(())
            } else {
                Err("its value holds a control character, such as the end of a line; take it out")
            }
        });
        let address = address?;
        self.check_address(&key.text, value, &address);
        let mut service = RemoteServer::new(address);
        service.headers = headers;
        service.login = self.login(fields);
        service.authorities = self.path(fields, "authorities");
        Some(Transport::Http(service))
    }

    /// Refuses what is no address that can be asked.
    pub(super) fn check_address(&mut self, field: &str, value: &Node, address: &str) {
        let Err(refusal) = checked_address(address) else { return };
        let message = match refusal {
            Refusal::NoAddress => "it is not an address; write one such as `https://mcp.example.com/mcp`",
            Refusal::Insecure => "it is neither `https` nor on this machine; write `https`",
            Refusal::Login => "it holds a user; write who you are in `headers`",
        };
        self.refuse(&value.span, Some(field), message);
    }
}
