use super::Document;
use crate::{LoadError, LoadOptions};

impl Document {
    /// Takes a document that the crate `openapiv3` has read, such as one that a program has put together.
    ///
    /// It knows OpenAPI 3.0 only, so what is read of another version is lost before: `nullable` of 3.1 as a type, `const`,
    /// `$defs`, several examples, keywords beside a `$ref`, and keywords of schemas whose type it does not expect. A text is
    /// better read with [`from_text`](Self::from_text), which loses nothing and refuses nothing for one bad place.
    ///
    /// ```
    /// use haft_openapi::{Document, LoadOptions};
    ///
    /// let mut spec = openapiv3::OpenAPI { openapi: "3.0.3".to_owned(), ..openapiv3::OpenAPI::default() };
    /// let operation = openapiv3::Operation { operation_id: Some("ping".to_owned()), ..openapiv3::Operation::default() };
    /// let item = openapiv3::PathItem { get: Some(operation), ..openapiv3::PathItem::default() };
    /// spec.paths.paths.insert("/ping".to_owned(), openapiv3::ReferenceOr::Item(item));
    ///
    /// let document = Document::from_spec(&spec, &LoadOptions::default())?;
    /// assert!(document.operation("ping").is_some());
    /// # Ok::<(), haft_openapi::LoadError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_value`](Self::from_value).
    pub fn from_spec(spec: &openapiv3::OpenAPI, options: &LoadOptions) -> Result<Self, LoadError> {
        let value = serde_json::to_value(spec).map_err(|error| LoadError::Syntax(error.to_string()))?;
        Self::from_value(value, options)
    }
}
