mod approvals;
mod below;
mod endings;
mod questions;
mod sequences;
mod tasks;
