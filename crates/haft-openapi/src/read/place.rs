/// Says what an object is whose members are read, as far as it decides what is kept of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The document itself.
    Root,
    /// A file that the document refers to: its members are what they are called, or names of the writer's own.
    File,
    /// Something whose members mean what OpenAPI says.
    Node,
    /// Names of the writer's own, each with a node.
    Names,
    /// The same, of replies by their status.
    Replies,
    /// A value that is no part of the description, such as a default.
    Data,
}

/// Says what becomes of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept(Place),
    /// Kept if it is a number, a truth value, a short text or a list, the first of them then.
    KeptIfShort,
    Dropped,
}

impl Place {
    /// Says what becomes of a member by its name.
    ///
    /// Examples are more than a third of many documents and extensions can be anything; neither is needed for a request,
    /// and a short example of a value is all that helps a model. Headers are only those of replies and of parts of forms.
    pub(super) fn fate(self, name: &str) -> Fate {
        match self {
            Self::Data => Fate::Kept(Self::Data),
            // A reply that tells of a failure is taken as it comes, and most of the replies of a document are of this kind.
            Self::Replies if name.len() == 3 && name.starts_with(['1', '3', '4', '5']) => Fate::Dropped,
            Self::Names | Self::Replies => Fate::Kept(Self::Node),
            // Where a file is a list of schemas, one of them may be called like what is passed over.
            Self::File => match Self::Node.fate(name) {
                Fate::Dropped => Fate::Kept(Self::Node),
                Fate::KeptIfShort if !name.starts_with("x-") => Fate::Kept(Self::Node),
                fate => fate,
            },
            Self::Root | Self::Node => match name {
                "example" | "examples" => Fate::KeptIfShort,
                "webhooks" | "x-webhooks" if self == Self::Root => Fate::Dropped,
                "callbacks" | "externalDocs" | "headers" | "links" | "mapping" | "scopes" | "xml" => {
                    Fate::Dropped
                }
                "responses" => Fate::Kept(Self::Replies),
                "default" | "enum" | "const" | "security" | "dependentRequired" => Fate::Kept(Self::Data),
                "properties"
                | "patternProperties"
                | "$defs"
                | "definitions"
                | "dependentSchemas"
                | "schemas"
                | "parameters"
                | "requestBodies"
                | "securitySchemes"
                | "securityDefinitions"
                | "pathItems"
                | "paths"
                | "content"
                | "encoding"
                | "variables"
                | "mediaTypes"
                | "dependencies" => Fate::Kept(Self::Names),
                name if self == Self::Node && name.starts_with("x-") => {
                    if name.contains("mcp") {
                        Fate::Kept(Self::Data)
                    } else {
                        Fate::KeptIfShort
                    }
                }
                _ => Fate::Kept(Self::Node),
            },
        }
    }
}
