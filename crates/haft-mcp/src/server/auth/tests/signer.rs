use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair};
use serde_json::{Value, json};

/// The key of RFC 7515, appendix A.2.1: modulus, exponents, primes and what is computed of them.
pub(super) const N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
const D: &str = "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ";
const P: &str = "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc";
const Q: &str = "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc";
const DP: &str = "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0";
const DQ: &str = "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU";
const QI: &str = "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U";

/// Signs tokens, as an authorization server would.
pub(super) enum Signer {
    Rsa(RsaKeyPair, &'static dyn signature::RsaEncoding),
    Ecdsa(EcdsaKeyPair, &'static str),
    Ed25519(Ed25519KeyPair),
}

impl Signer {
    pub(super) fn rsa(encoding: &'static dyn signature::RsaEncoding) -> Self {
        let public_key = PublicKeyComponents { n: decoded(N), e: vec![1, 0, 1] };
        let components = KeyPairComponents {
            public_key,
            d: decoded(D),
            p: decoded(P),
            q: decoded(Q),
            dP: decoded(DP),
            dQ: decoded(DQ),
            qInv: decoded(QI),
        };
        Self::Rsa(RsaKeyPair::from_components(&components).unwrap(), encoding)
    }

    pub(super) fn p256() -> Self {
        Self::ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, "P-256")
    }

    pub(super) fn p384() -> Self {
        Self::ecdsa(&signature::ECDSA_P384_SHA384_FIXED_SIGNING, "P-384")
    }

    fn ecdsa(algorithm: &'static signature::EcdsaSigningAlgorithm, curve: &'static str) -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::Ecdsa(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap(), curve)
    }

    pub(super) fn ed25519() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
    }

    /// Its public key as a JWK.
    pub(super) fn jwk(&self, id: &str) -> Value {
        match self {
            Self::Rsa(..) => json!({ "kty": "RSA", "kid": id, "use": "sig", "n": N, "e": "AQAB" }),
            Self::Ecdsa(pair, curve) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(pair.public_key().as_ref().len() / 2);
                json!({ "kty": "EC", "kid": id, "crv": curve, "x": encoded(x), "y": encoded(y) })
            }
            Self::Ed25519(pair) => {
                json!({ "kty": "OKP", "kid": id, "crv": "Ed25519", "x": encoded(pair.public_key().as_ref()) })
            }
        }
    }

    pub(super) fn token(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let (random, message) = (SystemRandom::new(), signed.as_bytes());
        let signature = match self {
            Self::Rsa(pair, encoding) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(*encoding, &random, message, &mut signature).unwrap();
                signature
            }
            Self::Ecdsa(pair, _) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        };
        format!("{signed}.{}", encoded(signature))
    }
}

pub(super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(super) fn decoded(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}
