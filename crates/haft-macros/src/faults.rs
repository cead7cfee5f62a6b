use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fmt::Display;

/// Collects what is wrong, so that everything is told at once.
#[derive(Default)]
pub(crate) struct Faults(Option<syn::Error>);

impl Faults {
    /// Notes a fault at the place of these tokens.
    pub(crate) fn at(&mut self, place: impl ToTokens, text: impl Display) {
        self.add(syn::Error::new_spanned(place, text));
    }

    pub(crate) fn add(&mut self, fault: syn::Error) {
        match &mut self.0 {
            Some(faults) => faults.combine(fault),
            None => self.0 = Some(fault),
        }
    }

    /// Gives the value of a result, or notes its fault.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|fault| self.add(fault)).ok()
    }

    /// Writes the faults for the compiler; `None` if there is none.
    pub(crate) fn to_compile_error(&self) -> Option<TokenStream> {
        self.0.as_ref().map(syn::Error::to_compile_error)
    }
}
