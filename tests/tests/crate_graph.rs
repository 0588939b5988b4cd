//! The invariants of ARCHITECTURE.md that are about which crate may know which: checked against `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What each crate of the workspace may depend on directly, outside its tests. A backend is any crate that is not
/// listed and lies under `evoxc-backends/`.
const ALLOWED: &[(&str, &[&str])] = &[
    ("evoxc-core", &[]),
    ("evoxc-macros", &[]),
    ("evoxc-ir", &["evoxc-core"]),
    ("evoxc-stage", &["evoxc-core", "evoxc-ir"]),
    ("evoxc-trace", &["evoxc-core", "evoxc-ir", "evoxc-stage", "evoxc-macros"]),
    ("evoxc-transform", &["evoxc-core", "evoxc-ir", "evoxc-stage", "evoxc-trace", "evoxc-macros"]),
];

/// What a backend may see; StableHLO's import also sees the tracer, and compilers use StableHLO, the reference execution of
/// ops and device runtimes.
const BACKEND: &[&str] = &["evoxc-core", "evoxc-ir", "evoxc-stage"];
const MEETING_POINTS: &[&str] = &["evoxc-stablehlo", "evoxc-reference", "evoxc-vulkan", "evoxc-cuda"];

/// The crates of the workspace: name, folder under the root, direct dependencies within the workspace.
fn workspace() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let out = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("cargo metadata gives JSON");
    let root = json["workspace_root"].as_str().expect("a workspace root").to_string();
    let packages = json["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut all = BTreeMap::new();
    for p in packages {
        let name = p["name"].as_str().expect("a name").to_string();
        let manifest = p["manifest_path"].as_str().expect("a path");
        let folder =
            manifest.trim_start_matches(&root).trim_start_matches('/').trim_end_matches("/Cargo.toml").to_string();
        let list = p["dependencies"].as_array().expect("dependencies");
        let normal = list.iter().filter(|d| d["kind"].as_str() != Some("dev"));
        let deps = normal.filter_map(|d| d["name"].as_str()).filter(|n| names.contains(n)).map(String::from).collect();
        all.insert(name, (folder, deps));
    }
    all
}

fn allowed(name: &str, folder: &str, all: &BTreeMap<String, (String, BTreeSet<String>)>) -> Option<BTreeSet<String>> {
    if let Some((_, list)) = ALLOWED.iter().find(|(n, _)| *n == name) {
        return Some(list.iter().map(|s| s.to_string()).collect());
    }
    if folder.starts_with("evoxc-backends/") {
        let mut list: BTreeSet<String> = BACKEND.iter().map(|s| s.to_string()).collect();
        if name == "evoxc-stablehlo" {
            list.insert("evoxc-trace".into());
        } else if !MEETING_POINTS.contains(&name) {
            list.extend(MEETING_POINTS.iter().map(|s| s.to_string()));
        }
        return Some(list);
    }
    if name == "evoxc-backends" {
        let mut list: BTreeSet<String> = BACKEND.iter().map(|s| s.to_string()).collect();
        list.extend(all.iter().filter(|(_, (f, _))| f.starts_with("evoxc-backends/")).map(|(n, _)| n.clone()));
        return Some(list);
    }
    // The facade, the program, the model zoo, tests: they stand above and may see everything below.
    None
}

#[test]
fn crates_depend_only_on_the_layers_below() {
    let all = workspace();
    let mut wrong = vec![];
    for (name, (folder, deps)) in &all {
        let Some(allowed) = allowed(name, folder, &all) else { continue };
        wrong.extend(deps.difference(&allowed).map(|d| format!("{name} must not depend on {d}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_below_the_facade_depends_on_it() {
    let all = workspace();
    for (name, (folder, deps)) in &all {
        let above = ["evoxc-cli", "evoxc-hf", "evoxc-tests", "evoxc-ui-tests", "evoxc-benches", "evoxc-examples"]
            .contains(&name.as_str())
            || !folder.starts_with("evoxc");
        assert!(above || !deps.contains("evoxc"), "{name} must not depend on the facade");
        assert!(name == "evoxc-tests" || !deps.contains("evoxc-tests"), "{name} must not depend on the tests");
    }
}

#[test]
fn the_layers_exist() {
    let all = workspace();
    for name in ["evoxc-core", "evoxc-ir", "evoxc-stage", "evoxc-macros", "evoxc-backends"] {
        assert!(all.contains_key(name), "the workspace has no crate {name}");
    }
}
