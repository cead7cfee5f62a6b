//! Places of their own for children, and what comes back from them.

mod applying;
mod attacks;
mod cleaning;
mod fixture;
mod kinds_of_changes;
mod kinds_of_repositories;
