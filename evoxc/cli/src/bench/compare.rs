//! Other systems' times, beside ours.

use super::timing::Times;
use crate::Failure;
use serde::Deserialize;
use std::path::Path;

/// A line of the script that times other systems.
#[derive(Debug, Deserialize)]
pub struct PeerLine {
    workload: String,
    peer: String,
    median_ms: Option<f64>,
    first_call_ms: Option<f64>,
}

/// Reads lines of JSON; empty ones are skipped.
pub fn read(path: &Path) -> Result<Vec<PeerLine>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::Error(format!("{}: {e}", path.display())))?;
    let mut lines = vec![];
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let parsed =
            serde_json::from_str(line).map_err(|e| Failure::Error(format!("{}:{}: {e}", path.display(), i + 1)))?;
        lines.push(parsed);
    }
    Ok(lines)
}

/// A table in Markdown: our median and that of each peer, and how many times longer the peer takes; then the first calls.
pub fn table(ours: &str, rows: &[(&str, Times)], lines: &[PeerLine]) -> String {
    let mut peers: Vec<&str> = vec![];
    for l in lines {
        if !peers.contains(&l.peer.as_str()) {
            peers.push(&l.peer);
        }
    }
    let mut text = String::new();
    for (title, our, their) in [
        (
            "median call, ms",
            (|t: &Times| t.median_ms) as fn(&Times) -> f64,
            (|l: &PeerLine| l.median_ms) as fn(&PeerLine) -> Option<f64>,
        ),
        ("first call, ms", |t| t.first_call_ms, |l| l.first_call_ms),
    ] {
        text += &format!("\n| {title} | {ours} | {} |\n|---|---|{}\n", peers.join(" | "), "---|".repeat(peers.len()));
        for (name, times) in rows {
            let mine = our(times);
            text += &format!("| {name} | {mine} |");
            for peer in &peers {
                let found = lines.iter().find(|l| l.workload == *name && l.peer == *peer).and_then(their);
                text += &match found {
                    Some(t) => format!(" {t} ({:.2}×) |", t / mine),
                    None => " – |".into(),
                };
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_takes_twice_as_long_has_the_ratio_two() {
        let lines: Vec<PeerLine> = [
            r#"{"workload":"w","peer":"numpy","median_ms":3.0,"min_ms":1.0,"first_call_ms":8.0}"#,
            r#"{"workload":"w","peer":"jax","error":"no"}"#,
        ]
        .iter()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
        let times = Times { median_ms: 1.5, min_ms: 1.0, first_call_ms: 2.0 };
        let text = table("evoxc-native", &[("w", times)], &lines);
        assert!(text.contains("| w | 1.5 | 3 (2.00×) | – |"), "{text}");
        assert!(text.contains("| w | 2 | 8 (4.00×) | – |"), "{text}");
    }
}
