use std::fmt;

/// What a symbol is, in the words that results use, whatever the language calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Annotation,
    Class,
    Constant,
    Constructor,
    Enum,
    Field,
    Function,
    Impl,
    Interface,
    Macro,
    Method,
    Module,
    Namespace,
    Record,
    Static,
    Struct,
    Trait,
    Type,
    Union,
    Variable,
    Variant,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Annotation => "annotation",
            Self::Class => "class",
            Self::Constant => "constant",
            Self::Constructor => "constructor",
            Self::Enum => "enum",
            Self::Field => "field",
            Self::Function => "function",
            Self::Impl => "impl",
            Self::Interface => "interface",
            Self::Macro => "macro",
            Self::Method => "method",
            Self::Module => "module",
            Self::Namespace => "namespace",
            Self::Record => "record",
            Self::Static => "static",
            Self::Struct => "struct",
            Self::Trait => "trait",
            Self::Type => "type",
            Self::Union => "union",
            Self::Variable => "variable",
            Self::Variant => "variant",
        }
    }

    /// Tells whether an outline only counts it, on the line of what it belongs to.
    pub(super) fn is_data(self) -> bool {
        matches!(self, Self::Field | Self::Variant)
    }

    /// Tells whether what is in it belongs to a running call.
    pub(super) fn runs(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor)
    }

    /// Tells whether it is nothing but a name of a value, so that one in a function is of no use elsewhere.
    pub(super) fn is_value(self) -> bool {
        matches!(self, Self::Constant | Self::Field | Self::Static | Self::Variable)
    }

    /// Tells whether a line is enough to show it.
    pub(super) fn is_one_line(self) -> bool {
        self.is_value() || matches!(self, Self::Macro | Self::Type | Self::Variant)
    }

    /// What it is where it belongs to something of another kind.
    pub(super) fn inside(self, owner: Option<Self>) -> Self {
        let has_members = matches!(
            owner,
            Some(
                Self::Annotation
                    | Self::Class
                    | Self::Enum
                    | Self::Impl
                    | Self::Interface
                    | Self::Record
                    | Self::Struct
                    | Self::Trait
                    | Self::Union
            )
        );
        match self {
            Self::Function if has_members => Self::Method,
            Self::Variable if has_members => Self::Field,
            _ => self,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
