mod approvals;
mod attended;
mod below;
mod endings;
mod questions;
mod sequences;
mod tasks;
