use super::Admission;
use crate::Accesses;
use crate::order::{AccessOrder, Place, Ticket};

/// Holds a call's places in the order: the one it entered with, and those for what it turned out to touch besides.
///
/// The default is a turn that comes at once: such a call is not ordered.
#[derive(Default)]
pub(crate) struct Turn<'a> {
    order: Option<&'a AccessOrder>,
    tickets: Vec<Ticket>,
    /// The place of the call that makes this one.
    caller: Option<Place>,
}

impl<'a> Turn<'a> {
    /// Orders a call behind all that are there, or in the place of the running one that makes it.
    pub(crate) fn beside(admission: &'a Admission, caller: Option<Place>) -> Self {
        Self { order: Some(&admission.order), tickets: Vec::new(), caller }
    }

    /// Takes a place for what the call touches.
    pub(crate) fn enter(&mut self, accesses: &Accesses) {
        let Some(order) = self.order else { return };
        let ticket = match self.place() {
            None => order.enter(accesses),
            Some(place) => order.enter_beside(place, accesses),
        };
        if let Some(ticket) = ticket {
            // Nearly every call has one place.
            self.tickets.reserve_exact(1);
            self.tickets.push(ticket);
        }
    }

    /// Gives the call's places, which are kept until they are dropped.
    pub(crate) fn keep(&mut self) -> Vec<Ticket> {
        std::mem::take(&mut self.tickets)
    }

    /// The place that the calls made by this one are beside of.
    pub(crate) fn place(&self) -> Option<Place> {
        self.tickets.last().map(Ticket::place).or(self.caller)
    }

    /// Tells whether the call is ordered by what it touches.
    pub(crate) fn is_ordered(&self) -> bool {
        self.order.is_some()
    }

    /// Tells whether the call has to wait for its turn.
    pub(crate) fn waits(&self) -> bool {
        self.tickets.iter().any(Ticket::waits)
    }

    /// Waits until it is the call's turn.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the places are kept.
    pub(crate) async fn come(&mut self) {
        for ticket in &mut self.tickets {
            ticket.granted().await;
        }
    }
}
