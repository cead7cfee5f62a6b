mod approvals;
mod endings;
mod questions;
mod sequences;
mod tasks;
