use super::signed_token::{Algorithm, SignedToken};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// How many keys of a set are read.
const MOST: usize = 100;

/// Is the keys of an authorization server (RFC 7517, section 5), as far as tokens can be checked with them.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<Key>);

#[derive(Debug)]
pub(super) struct Key {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    pub(super) material: Material,
}

#[derive(Debug)]
pub(super) enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl KeySet {
    /// Reads the keys that can be used, and passes over any other.
    pub(super) fn read(document: &Value) -> Result<Self, String> {
        let keys = document["keys"].as_array().ok_or("what it answered is not a set of keys")?;
        Ok(Self(keys.iter().take(MOST).filter_map(Key::read).collect()))
    }

    /// Finds the keys that a token says, or could, be signed with.
    pub(super) fn of<'a>(&'a self, token: &'a SignedToken<'_>) -> impl Iterator<Item = &'a Key> {
        self.0
            .iter()
            .filter(|key| key.is_for(token.algorithm) && (token.key.is_none() || key.id == token.key))
    }
}

impl Key {
    fn read(key: &Value) -> Option<Self> {
        let text = |name: &str| key[name].as_str();
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok();
        if text("use").is_some_and(|usage| usage != "sig") {
            return None;
        }
        if key["key_ops"].as_array().is_some_and(|uses| !uses.iter().any(|usage| usage == "verify")) {
            return None;
        }
        let point = |length: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            (x.len() == length && y.len() == length).then(|| [&[4][..], &x, &y].concat())
        };
        let material = match (text("kty")?, text("crv")) {
            ("RSA", _) => Material::Rsa { n: without_zeros(bytes("n")?), e: without_zeros(bytes("e")?) },
            ("EC", Some("P-256")) => Material::P256(point(32)?),
            ("EC", Some("P-384")) => Material::P384(point(48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes("x").filter(|x| x.len() == 32)?),
            _ => return None,
        };
        // A key for a way that is not known here is for no other.
        let algorithm = match text("alg") {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        Some(Self { id: text("kid").map(str::to_owned), algorithm, material })
    }

    /// Tells whether tokens signed in this way can be checked with it: never with a key of another kind, whatever a token
    /// says.
    pub(super) fn is_for(&self, algorithm: Algorithm) -> bool {
        use Algorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
        let fits = match self.material {
            Material::Rsa { .. } => matches!(algorithm, Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512),
            Material::P256(_) => algorithm == Es256,
            Material::P384(_) => algorithm == Es384,
            Material::Ed25519(_) => algorithm == EdDsa,
        };
        fits && self.algorithm.is_none_or(|only| only == algorithm)
    }
}

/// Numbers are written without zeros before them (RFC 7518, section 2); some write one all the same.
fn without_zeros(mut number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.drain(..zeros);
    number
}
