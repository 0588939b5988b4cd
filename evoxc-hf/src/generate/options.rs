//! How tokens are chosen.

/// How tokens are chosen, and when to stop. The default is greedy: the likeliest token each time.
///
/// ```
/// use evoxc_hf::GenerateOptions;
/// let options = GenerateOptions::default().max_new_tokens(64).temperature(0.8).top_p(0.95).seed(7);
/// assert_eq!(options.max_new_tokens, 64);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GenerateOptions {
    /// At most so many tokens; 128 by default.
    pub max_new_tokens: usize,
    /// What logits are divided by before sampling; 0 (the default) takes the likeliest.
    pub temperature: f64,
    /// Sample among the `k` likeliest only.
    pub top_k: Option<usize>,
    /// Sample among the fewest likeliest whose probabilities reach `p` (Holtzman et al., 2019).
    pub top_p: Option<f64>,
    /// Logits of tokens that the text holds already are divided by it where positive, multiplied where negative (Keskar
    /// et al., 2019); 1 by default.
    pub repetition_penalty: f64,
    /// The seed of the key.
    pub seed: u64,
    /// Tokens that end the text; those of the checkpoint by default.
    pub stop: Option<Vec<i32>>,
}

impl Default for GenerateOptions {
    fn default() -> GenerateOptions {
        GenerateOptions {
            max_new_tokens: 128,
            temperature: 0.0,
            top_k: None,
            top_p: None,
            repetition_penalty: 1.0,
            seed: 0,
            stop: None,
        }
    }
}

/// The least temperature that is not 0.
const LEAST: f64 = 1e-6;

impl GenerateOptions {
    /// Sets [`max_new_tokens`](GenerateOptions::max_new_tokens).
    pub fn max_new_tokens(mut self, n: usize) -> Self {
        self.max_new_tokens = n;
        self
    }
    /// Sets [`temperature`](GenerateOptions::temperature).
    pub fn temperature(mut self, t: f64) -> Self {
        self.temperature = t;
        self
    }
    /// Sets [`top_k`](GenerateOptions::top_k).
    pub fn top_k(mut self, k: usize) -> Self {
        self.top_k = Some(k);
        self
    }
    /// Sets [`top_p`](GenerateOptions::top_p).
    pub fn top_p(mut self, p: f64) -> Self {
        self.top_p = Some(p);
        self
    }
    /// Sets [`repetition_penalty`](GenerateOptions::repetition_penalty).
    pub fn repetition_penalty(mut self, p: f64) -> Self {
        self.repetition_penalty = p;
        self
    }
    /// Sets [`seed`](GenerateOptions::seed).
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Sets [`stop`](GenerateOptions::stop); an empty list never stops early.
    pub fn stop(mut self, tokens: impl Into<Vec<i32>>) -> Self {
        self.stop = Some(tokens.into());
        self
    }
    /// What is wrong with the numbers.
    pub(super) fn fault(&self) -> Option<String> {
        let bad = |name: &str, value: String, rule: &str| Some(format!("{name} is {value}, and must be {rule}"));
        // Logits divided by less are beyond the numbers of their dtype.
        if self.temperature != 0.0 && !(self.temperature >= LEAST && self.temperature.is_finite()) {
            return bad("temperature", self.temperature.to_string(), "0, which takes the likeliest, or from 1e-6");
        }
        if self.top_k == Some(0) {
            return bad("top_k", "0".into(), "at least 1");
        }
        if let Some(p) = self.top_p.filter(|p| !(*p > 0.0 && *p <= 1.0)) {
            return bad("top_p", p.to_string(), "above 0 and at most 1");
        }
        if !(self.repetition_penalty > 0.0 && self.repetition_penalty.is_finite()) {
            return bad("repetition_penalty", self.repetition_penalty.to_string(), "a number above 0");
        }
        None
    }
}
