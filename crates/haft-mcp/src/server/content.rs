//! What clients are given: results, documents and prompts, as plain data that the protocol's side writes.

mod answer;
mod block;
mod output_address;
mod output_reader;
mod prompts;
mod resources;

pub(crate) use answer::CallAnswer;
pub(crate) use block::{Block, Body, Document};
pub(crate) use prompts::prompts;
pub(crate) use resources::{ReadPart, ServedResource, ServedTemplate, read, resources, templates};

#[cfg(test)]
mod tests;
