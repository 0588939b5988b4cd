//! Reads the text form of modules: what `print` writes, and what people write by hand.
//!
//! One pass, linear in the text. Names are resolved as they come; types are those that stand there, nothing is
//! inferred or verified. Ops are read in a loop; only regions recurse, to a fixed depth.

use crate::lex::{Ident, Lexer, Tok, unescape};
use crate::literal::{read_literal, read_type};
use crate::print::VERSION;
use crate::{AttrValue, Func, MAX_REGION_DEPTH, Module, Name, Op, Prim, Region, TABLE, TensorType, Value};
use evoxc_core::{Dim, Loc, Result, Tensor};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;

/// Lists and records of attributes nest at most this deep.
const MAX_ATTR_DEPTH: usize = 32;

impl Module {
    /// Reads the text form. A bare list of functions is a module called `main`. The result is not verified.
    ///
    /// ```
    /// let text = "module @main version 1 {\n  func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n    %0 = evoxc.neg(%x) : tensor<2xf32>\n    return %0\n  }\n}\n";
    /// let m = evoxc_ir::Module::parse(text)?;
    /// assert_eq!(m.to_string(), text);
    /// # Ok::<(), evoxc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`evoxc_core::ParseError`], with line and column.
    pub fn parse(text: &str) -> Result<Module> {
        Module::parse_with_lines(text).map(|(m, _)| m)
    }
    /// The same, with the line (from 1) of every op: one list a function, in the order of the text, which is that of
    /// the op indices in errors of the verifier.
    ///
    /// # Errors
    /// [`evoxc_core::ParseError`], with line and column.
    pub fn parse_with_lines(text: &str) -> Result<(Module, Vec<Vec<usize>>)> {
        parse(text, None)
    }
}

/// Reads a module whose large constants stand elsewhere.
pub(crate) fn parse(text: &str, constants: Option<&[Tensor]>) -> Result<(Module, Vec<Vec<usize>>)> {
    let mut p = Parser { lex: Lexer::new(text), constants, line: (0, 1), func: FuncInProgress::default() };
    p.module()
}

/// What a value is called in the text.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key<'a> {
    Number(&'a str),
    Name(Cow<'a, str>),
}

#[derive(Default)]
struct FuncInProgress<'a> {
    func: Func,
    /// The values that are visible.
    scope: HashMap<Key<'a>, Value>,
    /// Their names, in order of definition, to be forgotten at the end of a region.
    defined: Vec<Key<'a>>,
    lines: Vec<usize>,
}

struct Parser<'a, 'c> {
    lex: Lexer<'a>,
    constants: Option<&'c [Tensor]>,
    /// A position and the line it is on; lines are counted on from there.
    line: (usize, usize),
    func: FuncInProgress<'a>,
}

impl<'a> Parser<'a, '_> {
    fn module(&mut self) -> Result<(Module, Vec<Vec<usize>>)> {
        let mut m = Module { name: "main".into(), ..Module::default() };
        let mut lines = vec![];
        let wrapped = self.lex.eat_word("module")?;
        if wrapped {
            m.name = self.func_name("the name of the module, as in `@main`")?;
            self.lex.expect_word("version")?;
            self.lex.skip();
            let at = self.lex.pos();
            let version: u64 = self.lex.integer("the version of the text form")?;
            if version != u64::from(VERSION) {
                let message = format!(
                    "the module has version {version} of the text form, but this is version {VERSION}: print it again with this version of evoxc"
                );
                return Err(self.lex.error(at, message));
            }
            self.lex.expect('{')?;
            self.header(&mut m);
        }
        while self.lex.eat_word("func")? {
            m.funcs.push(self.function()?);
            lines.push(std::mem::take(&mut self.func.lines));
        }
        if wrapped && !self.lex.eat('}')? {
            return Err(self.lex.expected("`func`, or `}` at the end of the module"));
        }
        if self.lex.peek()? != Tok::End {
            let what = match (wrapped, m.funcs.is_empty()) {
                (true, _) => "the end of the text after the module",
                (false, true) => "`module` or `func`",
                (false, false) => "`func` or the end of the text",
            };
            return Err(self.lex.expected(what));
        }
        if !wrapped && m.funcs.is_empty() {
            return Err(self.lex.expected("`module` or `func`"));
        }
        Ok((m, lines))
    }

    /// Static values and notes, which are comments between the first line of a module and its first function.
    fn header(&mut self, m: &mut Module) {
        loop {
            self.lex.skip_space();
            if !self.lex.rest().starts_with("//") {
                return;
            }
            let line = self.lex.take_line();
            let plain = |s: &str| unescape(s).unwrap_or_else(|| s.to_string());
            if let Some((name, text)) = line.strip_prefix("// static ").and_then(|s| s.split_once(" = ")) {
                m.statics.push((plain(name), plain(text)));
            } else if let Some(note) = line.strip_prefix("// note: ") {
                m.notes.push(plain(note));
            }
        }
    }

    fn func_name(&mut self, what: &str) -> Result<String> {
        self.lex.skip();
        let at = self.lex.pos();
        match self.lex.peek()? {
            Tok::Func(Ident::Plain(n) | Ident::Number(n)) => {
                self.lex.next()?;
                Ok(n.to_string())
            }
            Tok::Func(Ident::Quoted(n)) => {
                self.lex.next()?;
                Ok(self.lex.unescape(at, n)?.into_owned())
            }
            _ => Err(self.lex.expected(what)),
        }
    }

    fn function(&mut self) -> Result<Func> {
        let name = self.func_name("the name of the function, as in `@main`")?;
        self.func = FuncInProgress { func: Func::new(name), ..FuncInProgress::default() };
        let args = self.args()?;
        if self.lex.peek()? != Tok::Arrow {
            return Err(self.lex.expected("`->` and the types of the results"));
        }
        self.lex.next()?;
        let types = if self.lex.eat('(')? { self.types_until(')')? } else { vec![read_type(&mut self.lex)?] };
        self.lex.expect('{')?;
        let (body, end) = self.region(args, "return", 0)?;
        let returned: Vec<TensorType> = body.results.iter().map(|&v| self.func.func.ty(v).clone()).collect();
        if returned != types {
            let show = |t: &[TensorType]| t.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let message =
                format!("the function returns ({}), but its first line says ({})", show(&returned), show(&types));
            return Err(self.lex.error(end, message));
        }
        let mut f = std::mem::take(&mut self.func.func);
        f.body = body;
        Ok(f)
    }

    /// `(%a: type, …)`
    fn args(&mut self) -> Result<Vec<Value>> {
        self.lex.expect('(')?;
        let mut args = vec![];
        if self.lex.eat(')')? {
            return Ok(args);
        }
        loop {
            let (at, key) = self.value_key("an argument, as in `%x: tensor<2xf32>`")?;
            self.lex.expect(':')?;
            let ty = read_type(&mut self.lex)?;
            args.push(self.define(at, key, ty)?);
            if self.lex.eat(')')? {
                return Ok(args);
            }
            if !self.lex.eat(',')? {
                return Err(self.lex.expected("`,` or `)` after the argument"));
            }
        }
    }

    fn types_until(&mut self, close: char) -> Result<Vec<TensorType>> {
        let mut types = vec![];
        if self.lex.eat(close)? {
            return Ok(types);
        }
        loop {
            types.push(read_type(&mut self.lex)?);
            if self.lex.eat(close)? {
                return Ok(types);
            }
            if !self.lex.eat(',')? {
                return Err(self.lex.expected(&format!("`,` or `{close}` after the type")));
            }
        }
    }

    /// The ops of a region and its end, after `{`, through `}`. Gives where the terminator stands.
    fn region(&mut self, args: Vec<Value>, end: &str, depth: usize) -> Result<(Region, usize)> {
        let mut r = Region { args, ..Region::default() };
        loop {
            match self.lex.peek()? {
                Tok::Word(w) if w == end => break,
                Tok::Value(_) => r.ops.push(self.op(depth)?),
                Tok::Word(w) if w.starts_with("evoxc.") => r.ops.push(self.op(depth)?),
                _ => {
                    return Err(self
                        .lex
                        .expected(&format!("an op, as in `%0 = evoxc.neg(%x) : tensor<2xf32>`, or `{end}`")));
                }
            }
        }
        let at = self.lex.pos();
        self.lex.next()?;
        while matches!(self.lex.peek()?, Tok::Value(_)) {
            r.results.push(self.operand()?);
            if !self.lex.eat(',')? {
                break;
            }
        }
        if !self.lex.eat('}')? {
            return Err(self.lex.expected(&format!("`}}` after `{end}`")));
        }
        Ok((r, at))
    }

    fn op(&mut self, depth: usize) -> Result<Op> {
        let at = self.lex.pos();
        let mut names: SmallVec<[(usize, Key<'a>); 1]> = SmallVec::new();
        if matches!(self.lex.peek()?, Tok::Value(_)) {
            loop {
                names.push(self.value_key("a value, as in `%0`")?);
                if !self.lex.eat(',')? {
                    break;
                }
            }
            if !self.lex.eat('=')? {
                return Err(self.lex.expected("`=` after the results"));
            }
        }
        let line = self.line_of(at);
        self.func.lines.push(line);
        let (prim, operands) = self.prim_and_operands()?;
        let types = self.result_types(&prim, at, names.len())?;
        let regions = if self.lex.eat('{')? { self.regions(&prim, depth)? } else { vec![] };
        let loc = self.loc()?;
        let mut results = SmallVec::new();
        for ((at, key), ty) in names.into_iter().zip(types) {
            results.push(self.define(at, key, ty)?);
        }
        Ok(Op { prim, operands, results, regions, loc })
    }

    fn result_types(&mut self, prim: &Prim, at: usize, names: usize) -> Result<Vec<TensorType>> {
        let mut types = vec![];
        if self.lex.eat(':')? {
            types.push(read_type(&mut self.lex)?);
            while self.lex.eat(',')? {
                types.push(read_type(&mut self.lex)?);
            }
        }
        if types.len() == names {
            return Ok(types);
        }
        let message = format!(
            "`{}` has {names} names but {} types of results: expected one `: type` a result",
            prim.name(),
            types.len()
        );
        Err(self.lex.error(at, message))
    }

    /// The line of a position not before the last one asked for.
    fn line_of(&mut self, at: usize) -> usize {
        let (from, line) = self.line;
        let line = line + self.lex.between(from, at).bytes().filter(|&b| b == b'\n').count();
        self.line = (at, line);
        line
    }

    fn regions(&mut self, prim: &Prim, depth: usize) -> Result<Vec<Region>> {
        if depth >= MAX_REGION_DEPTH {
            return Err(self.lex.error(self.lex.pos(), format!("regions nest deeper than {MAX_REGION_DEPTH}")));
        }
        let mut regions = vec![];
        while !self.lex.eat('}')? {
            let label = prim.region_label(regions.len());
            if !self.lex.eat_word(&label)? {
                return Err(self.lex.expected(&format!("region `{label}` of `{}`, or `}}`", prim.name())));
            }
            let outer = self.func.defined.len();
            let args = self.args()?;
            self.lex.expect('{')?;
            regions.push(self.region(args, "yield", depth + 1)?.0);
            for key in self.func.defined.drain(outer..) {
                self.func.scope.remove(&key);
            }
        }
        Ok(regions)
    }

    fn loc(&mut self) -> Result<Option<Loc>> {
        if !self.lex.eat_word("loc")? {
            return Ok(None);
        }
        self.lex.expect('(')?;
        let (at, token) = self.lex.next()?;
        let Tok::Str(raw) = token else {
            self.lex.reset(at);
            return Err(self.lex.expected("a location, as in `loc(\"src/main.rs\":6:7)`"));
        };
        let file = self.lex.unescape(at, raw)?;
        self.lex.expect(':')?;
        let line = self.lex.integer("a line number")?;
        self.lex.expect(':')?;
        let column = self.lex.integer("a column number")?;
        self.lex.expect(')')?;
        Ok(Some(Loc::new(&file, line, column)))
    }

    /// `%name`, and where it stands.
    fn value_key(&mut self, what: &str) -> Result<(usize, Key<'a>)> {
        let (at, token) = self.lex.next()?;
        let key = match token {
            Tok::Value(Ident::Number(n)) => Key::Number(n),
            Tok::Value(Ident::Plain(n)) => Key::Name(Cow::Borrowed(n)),
            Tok::Value(Ident::Quoted(n)) => Key::Name(self.lex.unescape(at, n)?),
            _ => {
                self.lex.reset(at);
                return Err(self.lex.expected(what));
            }
        };
        Ok((at, key))
    }

    fn define(&mut self, at: usize, key: Key<'a>, ty: TensorType) -> Result<Value> {
        if self.func.scope.contains_key(&key) {
            return Err(self.lex.error(at, format!("{} is already defined", show(&key))));
        }
        let name: Option<Name> = match &key {
            Key::Number(_) => None,
            Key::Name(n) => Some(n.as_ref().into()),
        };
        let v = self.func.func.value(ty, name);
        self.func.scope.insert(key.clone(), v);
        self.func.defined.push(key);
        Ok(v)
    }

    fn operand(&mut self) -> Result<Value> {
        let (at, key) = self.value_key("a value, as in `%x`")?;
        let v = self.func.scope.get(&key).copied();
        v.ok_or_else(|| {
            let message = format!(
                "{} is not defined here: an operand stands after its definition, in the same region or inside of it",
                show(&key)
            );
            self.lex.error(at, message)
        })
    }

    // Not inlined: its frame is large, and `op` recurses through regions.
    #[inline(never)]
    fn prim_and_operands(&mut self) -> Result<(Prim, SmallVec<[Value; 3]>)> {
        let (at, token) = self.lex.next()?;
        let name = match token {
            Tok::Word(w) => w.strip_prefix("evoxc."),
            _ => None,
        };
        let Some(name) = name else {
            self.lex.reset(at);
            return Err(self.lex.expected("an op, as in `evoxc.add`"));
        };
        let mut operands = SmallVec::new();
        self.lex.expect('(')?;
        if !self.lex.eat(')')? {
            loop {
                operands.push(self.operand()?);
                if self.lex.eat(')')? {
                    break;
                }
                if !self.lex.eat(',')? {
                    return Err(self.lex.expected("`,` or `)` after the operand"));
                }
            }
        }
        let attributes = if self.attributes_follow()? { self.fields(0)? } else { vec![] };
        let prim = Prim::from_text(name, &mut |wanted| {
            attributes.iter().find(|(n, _, _)| n == wanted).map(|(_, _, v)| v.clone())
        });
        if prim.is_err() && !names::exists(name) {
            return Err(self.lex.error(at, names::unknown(name)));
        }
        let known = names::attributes_of(name);
        for (n, at, _) in &attributes {
            if !known.contains(&n.as_str()) {
                let has = if known.is_empty() { "has none".into() } else { format!("has {}", known.join(", ")) };
                return Err(self.lex.error(*at, format!("`{name}` has no attribute `{n}`; it {has}")));
            }
        }
        Ok((prim.map_err(|m| self.lex.error(at, m))?, operands))
    }

    /// Does `{` begin attributes, and not regions? (`{name =` or `{}` does.)
    fn attributes_follow(&mut self) -> Result<bool> {
        self.lex.skip();
        let mut ahead = self.lex.clone();
        if !ahead.eat('{')? {
            return Ok(false);
        }
        Ok(match ahead.next()?.1 {
            Tok::Word(_) => ahead.next()?.1 != Tok::Punct('('),
            _ => true,
        })
    }

    /// `{name = value, …}`, and where each name stands.
    fn fields(&mut self, depth: usize) -> Result<Vec<(String, usize, AttrValue)>> {
        self.lex.expect('{')?;
        let mut fields: Vec<(String, usize, AttrValue)> = vec![];
        // No op has many attributes; without a limit, looking for repeated ones would be quadratic.
        const MOST: usize = 64;
        while !self.lex.eat('}')? {
            let (at, token) = self.lex.next()?;
            let Tok::Word(name) = token else {
                self.lex.reset(at);
                return Err(self.lex.expected("an attribute, as in `axis = 0`, or `}`"));
            };
            if fields.len() >= MOST || fields.iter().any(|(n, _, _)| n == name) {
                return Err(self
                    .lex
                    .error(at, format!("attribute `{name}` stands here twice, or there are more than {MOST}")));
            }
            if !self.lex.eat('=')? {
                return Err(self.lex.expected("`=` after the attribute's name"));
            }
            fields.push((name.into(), at, self.attr(depth)?));
            if !self.lex.eat(',')? {
                if !self.lex.eat('}')? {
                    return Err(self.lex.expected("`,` or `}` after the attribute"));
                }
                break;
            }
        }
        Ok(fields)
    }

    fn attr(&mut self, depth: usize) -> Result<AttrValue> {
        let token = self.lex.peek()?;
        let at = self.lex.pos();
        if depth > MAX_ATTR_DEPTH {
            return Err(self.lex.error(at, format!("attributes nest deeper than {MAX_ATTR_DEPTH}")));
        }
        Ok(match token {
            Tok::Number(_) => AttrValue::Int(self.lex.integer("an integer of 64 bits")?),
            Tok::Word(w) => {
                self.lex.next()?;
                if matches!(w, "dense" | "splat" | "const") && self.lex.peek()? == Tok::Punct('<') {
                    self.lex.reset(at);
                    return Ok(AttrValue::Literal(read_literal(&mut self.lex, self.constants)?));
                }
                match w {
                    "true" => AttrValue::Bool(true),
                    "false" => AttrValue::Bool(false),
                    w => AttrValue::Word(w.into()),
                }
            }
            Tok::Str(raw) => {
                self.lex.next()?;
                AttrValue::Str(self.lex.unescape(at, raw)?.into_owned())
            }
            Tok::Func(_) => AttrValue::Func(self.func_name("a function")?),
            Tok::Punct('[') => {
                self.lex.next()?;
                let mut items = vec![];
                while !self.lex.eat(']')? {
                    items.push(self.attr(depth + 1)?);
                    if !self.lex.eat(',')? {
                        if !self.lex.eat(']')? {
                            return Err(self.lex.expected("`,` or `]` in the list"));
                        }
                        break;
                    }
                }
                AttrValue::List(items)
            }
            Tok::Punct('{') => AttrValue::Fields(self.fields(depth + 1)?.into_iter().map(|(n, _, v)| (n, v)).collect()),
            Tok::Punct('(') => AttrValue::Dim(self.extent()?),
            _ => {
                let what =
                    "a value: an integer, a word, a string, a list, a record, `@function`, `(extent)` or a literal";
                return Err(self.lex.expected(what));
            }
        })
    }

    /// `(2*B + 1)`
    fn extent(&mut self) -> Result<Dim> {
        self.lex.expect('(')?;
        let (start, mut open) = (self.lex.pos(), 1);
        // To the parenthesis that closes the first; an extent is one line.
        let text = self.lex.rest();
        let end = text.bytes().position(|b| {
            open += i32::from(b == b'(') - i32::from(b == b')');
            open == 0 || b == b'\n'
        });
        let text = text.get(..end.unwrap_or(0)).unwrap_or_default();
        let d = Dim::parse(text).map_err(|e| self.lex.error(start, e.to_string()))?;
        self.lex.reset(start + text.len());
        self.lex.expect(')')?;
        Ok(d)
    }
}

fn show(key: &Key) -> String {
    match key {
        Key::Number(n) => format!("%{n}"),
        Key::Name(n) => format!("%{n}"),
    }
}

/// Questions to the table of ops by a printed name.
mod names {
    use super::{Prim, TABLE};
    use crate::{CumOp, Reducer, ScatterOp, SelectOp};

    const NONE: &str = "no op is called";

    /// Is there an op of that name? (It may still lack attributes.)
    pub(super) fn exists(name: &str) -> bool {
        Prim::from_text(name, &mut |_| None).map_or_else(|m| !m.starts_with(NONE), |_| true)
    }
    /// The names of its attributes.
    pub(super) fn attributes_of(name: &str) -> &'static [&'static str] {
        let exact = TABLE.iter().find(|r| r.name == name);
        let family =
            || TABLE.iter().filter(|r| r.name.ends_with('_') && name.starts_with(r.name)).max_by_key(|r| r.name.len());
        exact.or_else(family).map_or(&[], |r| r.attributes)
    }
    /// The message that there is none, with the closest one that there is.
    pub(super) fn unknown(name: &str) -> String {
        let kinds = Reducer::ALL.iter().map(|k| k.word()).chain(ScatterOp::ALL.iter().map(|k| k.word()));
        let kinds: Vec<_> =
            kinds.chain(SelectOp::ALL.iter().map(|k| k.word())).chain(CumOp::ALL.iter().map(|k| k.word())).collect();
        let all = TABLE.iter().flat_map(|r| {
            let family: Vec<String> = kinds.iter().map(|k| format!("{}{k}", r.name)).filter(|n| exists(n)).collect();
            if r.name.ends_with('_') { family } else { vec![r.name.to_string()] }
        });
        // Far longer names are close to none, and comparing takes the product of both lengths.
        let close = if name.len() > 60 { None } else { all.map(|n| (distance(name, &n), n)).min() };
        let text: String = name.chars().take(60).collect();
        match close {
            Some((d, n)) if d <= 1 + name.len() / 3 => format!("{NONE} `{text}`; did you mean `{n}`?"),
            _ => format!("{NONE} `{text}`"),
        }
    }
    /// Edits (insertions, deletions, replacements) from one name to the other.
    fn distance(a: &str, b: &str) -> usize {
        let mut row: Vec<usize> = (0..=b.chars().count()).collect();
        for (i, x) in a.chars().enumerate() {
            let mut left = i + 1;
            let mut diagonal = i;
            for (slot, y) in row.iter_mut().skip(1).zip(b.chars()) {
                let up = *slot;
                left = (left + 1).min(up + 1).min(diagonal + usize::from(x != y));
                diagonal = std::mem::replace(slot, left);
            }
            if let Some(first) = row.first_mut() {
                *first = i + 1;
            }
        }
        row.last().copied().unwrap_or_default()
    }
}
