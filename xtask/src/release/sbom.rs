//! A bill of materials in the form of `CycloneDX` 1.5.

use serde_json::{Value, json};

use super::inventory::{Inventory, Part};

/// Writes down the program, its parts and what needs what. It says no time, so that the same program has the same bill.
pub(super) fn document(inventory: &Inventory) -> Value {
    let all = || std::iter::once(&inventory.program).chain(&inventory.parts);
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(&inventory.program, "application") },
        "components": inventory.parts.iter().map(|part| component(part, "library")).collect::<Vec<_>>(),
        "dependencies": all()
            .map(|part| json!({ "ref": part.reference(), "dependsOn": part.needs }))
            .collect::<Vec<_>>(),
    })
}

fn component(part: &Part, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": part.reference(),
        "name": part.name,
        "version": part.version,
        "purl": part.reference(),
    });
    if let Some(licence) = &part.licence {
        component["licenses"] = json!([{ "expression": spdx(licence) }]);
    }
    if let Some(checksum) = &part.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

/// Old manifests divide licences by a slash, which SPDX does not know.
fn spdx(licence: &str) -> String {
    licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{document, spdx};
    use crate::release::inventory::sample;

    #[test]
    fn says_what_is_in_the_program_and_what_needs_what() {
        let document = document(&sample());
        assert_eq!(document["metadata"]["component"]["purl"], "pkg:cargo/haft-cli@0.1.0");
        assert_eq!(
            document["components"],
            json!([
                { "type": "library", "bom-ref": "pkg:cargo/b@2.0.0", "name": "b", "version": "2.0.0",
                  "purl": "pkg:cargo/b@2.0.0", "licenses": [{ "expression": "Apache-2.0 OR MIT" }],
                  "hashes": [{ "alg": "SHA-256", "content": "ab12" }] },
                { "type": "library", "bom-ref": "pkg:cargo/c@1.0.0", "name": "c", "version": "1.0.0",
                  "purl": "pkg:cargo/c@1.0.0" },
            ])
        );
        assert_eq!(
            document["dependencies"],
            json!([
                { "ref": "pkg:cargo/haft-cli@0.1.0", "dependsOn": ["pkg:cargo/b@2.0.0"] },
                { "ref": "pkg:cargo/b@2.0.0", "dependsOn": ["pkg:cargo/c@1.0.0"] },
                { "ref": "pkg:cargo/c@1.0.0", "dependsOn": ["pkg:cargo/b@2.0.0"] },
            ])
        );
    }

    #[test]
    fn licences_of_old_manifests_are_alternatives() {
        assert_eq!(spdx("MIT/Apache-2.0"), "MIT OR Apache-2.0");
    }
}
