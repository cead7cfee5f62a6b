use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Holds at most one value of each type, for what a host wants its tools to reach.
///
/// Cheap to clone; adding a value makes a new set and leaves clones as they were.
///
/// ```
/// use haft_tools_core::Extensions;
///
/// struct Tenant(&'static str);
/// let extensions = Extensions::default().with(Tenant("acme"));
/// assert_eq!(extensions.get::<Tenant>().map(|tenant| tenant.0), Some("acme"));
/// assert!(extensions.get::<u8>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct Extensions(Option<Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl Extensions {
    /// Adds a value; one of the same type is replaced.
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        let mut values = self.0.map(Arc::unwrap_or_clone).unwrap_or_default();
        values.insert(TypeId::of::<T>(), Arc::new(value));
        Self(Some(Arc::new(values)))
    }

    /// Borrows the value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.as_ref().map_or(0, |values| values.len()))
    }
}
