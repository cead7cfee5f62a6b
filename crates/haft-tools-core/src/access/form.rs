//! The JSON form of an access, in which the place it is ordered by is written as a resource.

use super::{Access, Order, Resource, Target};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    target: &'a Target,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Order::is_usual")]
    order: Order,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<Resource>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    delegates: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sifted: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dispensable: bool,
}

#[derive(Deserialize)]
struct Read {
    #[serde(flatten)]
    target: Target,
    #[serde(default)]
    detail: Option<Box<str>>,
    #[serde(default)]
    order: Order,
    #[serde(default)]
    within: Option<Resource>,
    #[serde(default)]
    delegates: bool,
    #[serde(default)]
    sifted: bool,
    #[serde(default)]
    dispensable: bool,
}

impl Serialize for Access {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { target, detail, order, within: _, delegates, sifted, dispensable } = self;
        let (detail, within) = (detail.as_deref(), self.wider());
        let (order, delegates, sifted, dispensable) = (*order, *delegates, *sifted, *dispensable);
        Written { target, detail, order, within, delegates, sifted, dispensable }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Access {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { target, detail, order, within, delegates, sifted, dispensable } =
            Read::deserialize(deserializer)?;
        let access =
            Self { target, detail, order, within: None, delegates, sifted: false, dispensable: false };
        let access = if sifted { access.sifted() } else { access };
        let access = if dispensable { access.dispensable() } else { access };
        Ok(match within {
            Some(place) => access.ordered_in(&place),
            None => access,
        })
    }
}
