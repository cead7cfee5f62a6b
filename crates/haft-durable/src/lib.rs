//! What a durable engine has to keep of tool calls, whichever engine it is.
//!
//! A [`LocalExecutor`](haft_tools_core::LocalExecutor) runs calls in the process that makes them. A durable engine keeps each
//! call outside of it: workers on any host run it, a person's answer may take days, and whatever process dies, the call goes
//! on. This crate has what such an engine and its clients must agree on and names no engine. One that stands on it is
//! `haft-durable-restate`.
//!
//! Three types follow a call on its way. A client makes a [`CallRequest`] of it: plain data under a [`CallKey`] that is the
//! same whenever the same call is made, so that a client which died finds its call again. The engine keeps a [`CallCourse`],
//! a pure machine that says what is [next](Next): perform a round, wait for a decision, or nothing more. A worker has a
//! [`Performer`], which performs rounds with an executor of its own.
//!
//! # Rounds and keys
//!
//! A call goes in rounds. Round 0 goes until the call is answered or has to wait for a person; each answer begins another.
//! Within a round a tool takes effect at least once where it may be [made again](Redo), and at most once everywhere else: an
//! engine that cannot tell whether a round took effect makes it again only then, and answers the call as lost otherwise. What
//! is made again has the same [`EffectKey`], `<call>:<round>`, by which whoever keeps the effect knows it.
//!
//! ```
//! use haft_core::ToolCall;
//! use haft_durable::{CallCourse, CallRequest, Next};
//! use haft_tools_core::CallScope;
//! use serde_json::json;
//!
//! let scope = CallScope::new("run-1".parse()?).with_turn(3);
//! let request = CallRequest::new(&scope, ToolCall::new("c1".parse()?, "send_mail", json!({ "to": "a@example.org" })))?;
//! let course = CallCourse::new(request);
//! assert!(matches!(course.next(), Next::Perform));
//! assert_eq!(course.round_key().to_string(), "run-1/3/c1:0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is decided
//!
//! A [`RoundDecision`] names the round that it is about, and the digest of what the person was shown. It counts once:
//! one about a round that is over is [stale](DecisionError::Stale), and a second one about the same round is
//! [refused](DecisionError::Decided). One that approves counts until the call expires.
//!
//! # What cannot be sent
//!
//! A scope that was [bounded in code](haft_tools_core::CallScope::with_ceiling) holds a policy, which is no data: its calls
//! are denied rather than run without that bound. Values that a host adds to a scope stay where they are, and a worker adds
//! its own.
//!
//! # For whoever writes an executor
//!
//! [`in_order`] runs the calls of a batch one by one, or side by side where they do not conflict, and holds back what has to
//! be. With the feature `conformance`, the module of that name puts an executor through what every one has to do.

mod call_key;
mod call_request;
#[cfg(feature = "conformance")]
pub mod conformance;
mod course;
mod effect_key;
mod in_order;
mod kept_by_engine;
mod performer;
mod pool;
mod redo;
mod round_decision;
mod round_key;
mod scope_record;

pub use call_key::{CallKey, KeyError};
pub use call_request::CallRequest;
pub use course::{CallCourse, Next, Waiting};
pub use effect_key::EffectKey;
pub use in_order::{conflicts, in_order};
pub use performer::Performer;
pub use pool::{Pool, PoolError, Routes};
pub use redo::Redo;
pub use round_decision::{DecisionError, RoundDecision};
pub use round_key::RoundKey;
pub use scope_record::{ScopeError, ScopeRecord};
