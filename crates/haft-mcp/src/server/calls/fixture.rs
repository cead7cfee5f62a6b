//! What tests of calls are made of: a client on paper, and tools that ask.
