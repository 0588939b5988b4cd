//! The JSON header of a safetensors file: read without trusting it.

use crate::error::shown;
use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// One tensor, as the header lists it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    pub dtype: String,
    pub shape: Vec<usize>,
    pub data_offsets: [usize; 2],
}

/// Every tensor in the file's order, and the free-form metadata.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub tensors: Vec<(String, Listed)>,
    pub metadata: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: de::Deserializer<'de>>(d: D) -> Result<Header, D::Error> {
        d.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Header;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let (mut out, mut seen) = (Header::default(), HashSet::new());
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(de::Error::custom(format!("{} is listed twice", shown(&name))));
            }
            // What is said about a value names its tensor; the position follows.
            let about = |e: A::Error| de::Error::custom(format!("{}: {e}", shown(&name)));
            if name == "__metadata__" {
                out.metadata = map.next_value().map_err(about)?;
            } else {
                let listed = map.next_value().map_err(about)?;
                out.tensors.push((name, listed));
            }
        }
        Ok(out)
    }
}
