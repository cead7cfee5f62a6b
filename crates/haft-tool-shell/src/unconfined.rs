//! Stands for the sandbox where the crate is built without it: there is none.

use std::io;
use std::path::Path;

use haft_core::ToolError;
use haft_process::{Environment, Program};
use haft_tools_core::Access;
use haft_workdir::WorkdirPath;

use crate::script::{Script, Surroundings};

#[derive(Debug, Clone)]
pub(crate) enum ShellSandbox {}

#[derive(Debug)]
pub(crate) enum Confined {}

impl ShellSandbox {
    pub(crate) fn confined(&self, script: &Script, _: &Path) -> Result<Confined, ToolError> {
        // What a sandbox would be made of.
        let _ = (&script.accesses, script.is_understood, &script.surroundings.roots, script.waiting.port());
        match *self {}
    }
}

impl Confined {
    pub(crate) fn confine(&self, _: Program, _: &Environment) -> io::Result<(Program, Environment)> {
        match *self {}
    }

    pub(crate) fn remarks(&mut self, _: &str, _: bool) -> String {
        match *self {}
    }

    pub(crate) fn weaker(&self) -> Vec<String> {
        match *self {}
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is the same with a sandbox")]
pub(crate) fn requested(_: &[String], _: &Surroundings, _: &WorkdirPath) -> Result<Vec<Access>, ToolError> {
    Ok(Vec::new())
}
