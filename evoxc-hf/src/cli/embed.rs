//! `evoxc-hf embed`.

use super::{Failure, Model, ids, print};
use evoxc_hf::Encoder;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    model: Model,
    /// The sentences
    #[arg(required_unless_present = "ids", conflicts_with = "ids")]
    sentences: Vec<String>,
    /// The tokens of a sentence, separated by commas; may be repeated
    #[arg(long, value_name = "ID,ID")]
    ids: Vec<String>,
    /// Print how alike each two sentences are (the cosine), not the vectors
    #[arg(long)]
    cosine: bool,
}

pub fn run(a: &Arguments) -> Result<(), Failure> {
    let loaded = a.model.load()?;
    let rows: Vec<Vec<i32>> = if a.ids.is_empty() {
        let text = a.model.text()?;
        a.sentences.iter().map(|s| text.encode(s)).collect::<Result<_, _>>()?
    } else {
        a.ids.iter().map(|s| ids(s)).collect::<Result<_, _>>().map_err(Failure::Input)?
    };
    let vectors = Encoder::new(&loaded, &a.model.backend()?)?.embed(&rows)?;
    // At length 1 the product is the cosine.
    let shown = if a.cosine { vectors.dot(&vectors.t()) } else { vectors };
    let mut out = String::new();
    for row in shown.rows() {
        let row: Vec<String> = row.iter().map(|x| if a.cosine { format!("{x:7.4}") } else { x.to_string() }).collect();
        out += &row.join(if a.cosine { " " } else { "," });
        out.push('\n');
    }
    print(&out)
}
