use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Holds at most one value of each type, for what a host wants its tools to reach.
///
/// Cheap to clone; adding a value makes a new set and leaves clones as they were.
#[derive(Clone, Default)]
pub(crate) struct Extensions(Option<Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl Extensions {
    /// Adds a value; one of the same type is replaced.
    pub(crate) fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        let mut values = self.0.map(Arc::unwrap_or_clone).unwrap_or_default();
        values.insert(TypeId::of::<T>(), Arc::new(value));
        Self(Some(Arc::new(values)))
    }

    /// Borrows the value of a type.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.as_ref().map_or(0, |values| values.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::Extensions;

    #[test]
    fn a_value_is_found_by_its_type() {
        struct Tenant(&'static str);
        let none = Extensions::default();
        let one = none.clone().with(Tenant("other")).with(Tenant("acme"));
        assert_eq!(one.get::<Tenant>().map(|tenant| tenant.0), Some("acme"));
        assert!(one.get::<u8>().is_none() && none.get::<Tenant>().is_none());
    }
}
