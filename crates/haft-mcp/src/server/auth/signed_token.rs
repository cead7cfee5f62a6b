use super::key_set::{Key, Material};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

/// How many characters a token may have.
const LONGEST: usize = 16 << 10;

/// Says how a token is signed. What is signed with a shared secret, or not at all, is none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

/// Is a token in its parts, of which nothing is known to be true yet (RFC 7515, section 3.1).
#[derive(Debug)]
pub(super) struct SignedToken<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key: Option<String>,
    signed: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    crit: Option<Value>,
}

impl Algorithm {
    /// Reads a name of RFC 7518, RFC 8037 or RFC 9864.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }

    fn rsa(self) -> Option<&'static signature::RsaParameters> {
        Some(match self {
            Self::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Self::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Self::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
            Self::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
            Self::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
            Self::Es256 | Self::Es384 | Self::EdDsa => return None,
        })
    }
}

impl<'a> SignedToken<'a> {
    /// Takes a token apart; the text says what is wrong with it, and nothing of what is in it.
    pub(super) fn read(token: &'a str) -> Result<Self, &'static str> {
        if token.len() > LONGEST {
            return Err("the token is too long");
        }
        let (signed, signature) = token.rsplit_once('.').ok_or("the token is not signed")?;
        let (header, payload) = signed.split_once('.').ok_or("the token is not signed")?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| "the token is not well formed");
        let header: Header =
            serde_json::from_slice(&decode(header)?).map_err(|_| "the token is not well formed")?;
        let algorithm =
            Algorithm::named(&header.alg).ok_or("the token is signed in a way that does not count")?;
        // An extension that has to be understood is none of those that are (RFC 7515, section 4.1.11).
        if header.crit.is_some() {
            return Err("the token asks for what is not understood");
        }
        // A token of another kind, though of the same issuer, is none to call with (RFC 8725, section 3.11).
        let kind = header.typ.as_deref().map(|kind| kind.strip_prefix("application/").unwrap_or(kind));
        if kind.is_some_and(|kind| !["jwt", "at+jwt"].iter().any(|known| kind.eq_ignore_ascii_case(known))) {
            return Err("the token is not one to call with");
        }
        Ok(Self {
            algorithm,
            key: header.kid,
            signed,
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }

    /// Gives what is in it, if it is signed with this key.
    pub(super) fn verified(&self, key: &Key) -> Option<&[u8]> {
        if !key.is_for(self.algorithm) {
            return None;
        }
        let (message, signature) = (self.signed.as_bytes(), self.signature.as_slice());
        let verified = match (&key.material, self.algorithm.rsa()) {
            (Material::Rsa { n, e }, Some(parameters)) => {
                signature::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Material::P256(point), _) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Material::P384(point), _) => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point).verify(message, signature)
            }
            (Material::Ed25519(point), _) => {
                UnparsedPublicKey::new(&signature::ED25519, point).verify(message, signature)
            }
            (Material::Rsa { .. }, None) => return None,
        };
        verified.is_ok().then_some(&self.payload)
    }
}
