use super::super::key_set::KeySet;
use super::super::signed_token::SignedToken;
use super::signer::{N, Signer, encoded};
use ring::signature;
use serde_json::{Value, json};

/// Checks a token with a set of keys; gives what is in it.
fn verified(token: &str, keys: &[Value]) -> Result<String, &'static str> {
    let token = SignedToken::read(token)?;
    let keys = KeySet::read(&json!({ "keys": keys })).unwrap();
    let payload = keys.of(&token).find_map(|key| token.verified(key).map(<[u8]>::to_vec));
    payload.map(|payload| String::from_utf8(payload).unwrap()).ok_or("wrong")
}

fn p256() -> Value {
    json!({
        "kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    })
}

fn rsa() -> Value {
    json!({ "kty": "RSA", "n": N, "e": "AQAB" })
}

const JOE: &str =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

#[test]
fn reads_what_the_standards_sign() {
    let joe = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";
    // RFC 7515, appendix A.2.
    let rs256 = format!(
        "eyJhbGciOiJSUzI1NiJ9.{JOE}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    );
    assert_eq!(verified(&rs256, &[rsa()]).as_deref(), Ok(joe));
    // RFC 7515, appendix A.3.
    let es256 = format!(
        "eyJhbGciOiJFUzI1NiJ9.{JOE}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    );
    assert_eq!(verified(&es256, &[rsa(), p256()]).as_deref(), Ok(joe));
    // RFC 8037, appendix A.4.
    let eddsa = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
    assert_eq!(verified(eddsa, &[key]).as_deref(), Ok("Example of Ed25519 signing"));
}

#[test]
fn takes_every_way_of_signing_that_counts_and_none_with_the_key_of_another() {
    let signers: [(&str, Signer); 9] = [
        ("RS256", Signer::rsa(&signature::RSA_PKCS1_SHA256)),
        ("RS384", Signer::rsa(&signature::RSA_PKCS1_SHA384)),
        ("RS512", Signer::rsa(&signature::RSA_PKCS1_SHA512)),
        ("PS256", Signer::rsa(&signature::RSA_PSS_SHA256)),
        ("PS384", Signer::rsa(&signature::RSA_PSS_SHA384)),
        ("PS512", Signer::rsa(&signature::RSA_PSS_SHA512)),
        ("ES256", Signer::p256()),
        ("ES384", Signer::p384()),
        ("EdDSA", Signer::ed25519()),
    ];
    for (number, (name, signer)) in signers.iter().enumerate() {
        let token = signer.token(&json!({ "alg": name, "kid": "a" }), &json!({ "a": 1 }));
        assert_eq!(verified(&token, &[signer.jwk("a")]).as_deref(), Ok(r#"{"a":1}"#), "{name}");
        // The key of another, under the same name.
        let others: Vec<Value> = signers
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != number)
            .map(|(_, (_, other))| other.jwk("a"))
            .collect();
        if number > 5 {
            assert_eq!(verified(&token, &others), Err("wrong"), "{name}");
        }
        // Under another name, or for another use.
        assert_eq!(verified(&token, &[signer.jwk("b")]), Err("wrong"), "{name}");
        for (member, value) in [
            ("use", json!("enc")),
            ("key_ops", json!(["sign"])),
            ("alg", json!("none")),
            ("alg", json!("RS1")),
        ] {
            let mut key = signer.jwk("a");
            key[member] = value;
            assert_eq!(verified(&token, &[key]), Err("wrong"), "{name} {member}");
        }
        // What is said to be signed in another way than it is.
        for other in ["RS256", "PS512", "ES256", "ES384", "EdDSA"] {
            if other != *name {
                let lie = signer.token(&json!({ "alg": other }), &json!({ "a": 1 }));
                assert_eq!(verified(&lie, &[signer.jwk("a")]), Err("wrong"), "{name} as {other}");
            }
        }
        // Any other byte in what is signed.
        let at = token.find('.').unwrap() + 2;
        let mut other = token.clone();
        let changed = if &token[at..=at] == "A" { "B" } else { "A" };
        other.replace_range(at..=at, changed);
        assert_eq!(verified(&other, &[signer.jwk("a")]), Err("wrong"), "{name}");
    }
}

#[test]
fn what_is_signed_by_nobody_or_with_a_shared_secret_does_not_count() {
    let unsigned = |alg: &str| format!("{}.{JOE}.", encoded(json!({ "alg": alg }).to_string()));
    let does_not = Err("the token is signed in a way that does not count");
    for alg in ["none", "None", "NONE", "", "HS256", "HS384", "HS512", "ES512", "ES256K", "RS1", "rs256"] {
        assert_eq!(verified(&unsigned(alg), &[rsa(), p256()]), does_not, "{alg}");
    }
    assert_eq!(verified(&unsigned("RS256"), &[rsa()]), Err("wrong"));
    assert_eq!(verified(&unsigned("ES256"), &[p256()]), Err("wrong"));
    let zeros = format!("{}.{JOE}.{}", encoded(r#"{"alg":"ES256"}"#), encoded([0; 64]));
    assert_eq!(verified(&zeros, &[p256()]), Err("wrong"));
}

#[test]
fn refuses_what_is_no_token_to_call_with() {
    let signer = Signer::ed25519();
    let token = |header: Value| signer.token(&header, &json!({}));
    let check = |token: &str, expected: Result<&str, &'static str>| {
        assert_eq!(
            verified(token, &[signer.jwk("a")]).as_deref(),
            expected.as_ref().map(|ok| *ok),
            "{token}"
        );
    };
    for kind in ["JWT", "at+jwt", "application/at+JWT"] {
        check(&token(json!({ "alg": "EdDSA", "typ": kind })), Ok("{}"));
    }
    for kind in ["logout+jwt", "dpop+jwt", ""] {
        check(&token(json!({ "alg": "EdDSA", "typ": kind })), Err("the token is not one to call with"));
    }
    let crit = token(json!({ "alg": "EdDSA", "crit": ["b64"], "b64": false }));
    check(&crit, Err("the token asks for what is not understood"));
    for text in ["", "a", "a.b"] {
        check(text, Err("the token is not signed"));
    }
    for text in ["a.b.c", "..", "a.b.c.d", "e30.e30.e30", "e30=.e30.e30"] {
        check(text, Err("the token is not well formed"));
    }
    check(&"a".repeat(20_000), Err("the token is too long"));
}

#[test]
fn passes_over_keys_that_cannot_be_used() {
    let keys = json!({ "keys": [
        { "kty": "oct", "k": "c2VjcmV0" },
        { "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA" },
        { "kty": "EC", "crv": "P-521", "x": "AA", "y": "AA" },
        { "kty": "OKP", "crv": "X25519", "x": "AA" },
        { "kty": "RSA", "n": "not base64!", "e": "AQAB" },
        { "kty": "RSA" },
        "key", null, {},
    ] });
    let token = Signer::ed25519().token(&json!({ "alg": "EdDSA" }), &json!({}));
    let token = SignedToken::read(&token).unwrap();
    assert_eq!(KeySet::read(&keys).unwrap().of(&token).count(), 0);
    for document in [json!({}), json!([]), json!({ "keys": {} }), json!(null)] {
        KeySet::read(&document).unwrap_err();
    }
    // A short key proves nothing.
    let short = json!({ "kty": "RSA", "n": encoded([255; 128]), "e": "AQAB" });
    let rs256 = Signer::rsa(&signature::RSA_PKCS1_SHA256).token(&json!({ "alg": "RS256" }), &json!({}));
    assert_eq!(verified(&rs256, &[short]), Err("wrong"));
}
