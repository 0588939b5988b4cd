//! Reads the text form of modules: what `print` writes, and what people write by hand.
//!
//! One pass, linear in the text. Names are resolved as they come; types are those that stand there, nothing is
//! inferred or verified. Ops are read in a loop; only regions recurse, to a fixed depth.

mod attrs;
mod names;

use crate::lex::{Ident, Lexer, Tok, unescape};
use crate::literal::read_type;
use crate::print::VERSION;
use crate::{Func, MAX_REGION_DEPTH, Module, Name, Op, Prim, Region, TensorType, Value};
use evoxc_core::{Loc, Result, Tensor};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;

impl Module {
    /// Reads the text form. A bare list of functions is a module called `main`. The result is not verified.
    ///
    /// ```
    /// let text = "module @main version 1 {\n  func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n    %0 = evoxc.neg(%x) : tensor<2xf32>\n    return %0\n  }\n}\n";
    /// let m = evoxc::ir::Module::parse(text)?;
    /// assert_eq!(m.to_string(), text);
    /// # Ok::<(), evoxc::Error>(())
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
}

fn show(key: &Key) -> String {
    match key {
        Key::Number(n) => format!("%{n}"),
        Key::Name(n) => format!("%{n}"),
    }
}
