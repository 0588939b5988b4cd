//! Ops and regions: result names, the generic form, and what both forms share.

use super::ast::{NamedAttr, Op, Region, Type, Value};
use super::fault::{Fault, Read};
use super::parser::{MAX_REGIONS, Parser};
use std::borrow::Cow;

/// An op whose results have no names yet.
pub(crate) struct Draft<'a> {
    pub name: Cow<'a, str>,
    pub at: usize,
    pub operands: Vec<Value>,
    pub attrs: Vec<NamedAttr<'a>>,
    pub regions: Vec<Region<'a>>,
    pub results: Vec<Type<'a>>,
    /// How many results the text names, where it names any.
    pub named: Option<usize>,
    /// Do the regions stand for a word, and so have the op's own location?
    pub implied: bool,
}

impl<'a> Draft<'a> {
    pub fn new(name: &'static str, at: usize) -> Draft<'a> {
        Draft {
            name: Cow::Borrowed(name),
            at,
            operands: vec![],
            attrs: vec![],
            regions: vec![],
            results: vec![],
            named: None,
            implied: false,
        }
    }

    /// Adds an attribute that the form names.
    pub fn set(&mut self, name: &'static str, value: super::ast::Attr<'a>) {
        self.attrs.push((Cow::Borrowed(name), value));
    }
}

/// Names before `=`: where, the name, how many results.
type Names<'a> = Vec<(usize, &'a str, usize)>;

impl<'a> Parser<'a> {
    /// An op, with all that is inside.
    pub fn op(&mut self) -> Read<Op<'a>> {
        let names = self.result_names()?;
        let named = (!names.is_empty()).then(|| names.iter().fold(0usize, |n, (_, _, m)| n.saturating_add(*m)));
        self.c.skip();
        let at = self.c.at;
        let mut draft = Draft { named, ..Draft::new("", at) };
        if self.c.peek() == Some(b'"') {
            draft.name = self.c.string()?;
            self.generic(&mut draft)?;
        } else {
            let Some(word) = self.c.word() else { return Err(self.c.expected("an op")) };
            draft.name = match word {
                "call" => Cow::Borrowed("func.call"),
                "return" => Cow::Borrowed("func.return"),
                word if word.contains('.') => Cow::Borrowed(word),
                word => {
                    return Err(Fault::new(at, format!("expected an op, found `{word:.60}`, which names no dialect")));
                }
            };
            self.pretty(&mut draft)?;
        }
        let loc = self.optional_loc()?;
        let Draft { name, at, operands, attrs, mut regions, results: types, implied, .. } = draft;
        if implied {
            regions.iter_mut().flat_map(|r| &mut r.ops).for_each(|op| op.loc.clone_from(&loc));
        }
        let results = self.define_results(at, &name, names, types)?;
        Ok(Op { name, operands, results, attrs, regions, at, loc })
    }

    fn result_names(&mut self) -> Read<Names<'a>> {
        let mut names = vec![];
        if self.c.peek() != Some(b'%') {
            return Ok(names);
        }
        loop {
            self.c.skip();
            let at = self.c.at;
            let Some(name) = self.c.sigil("%", "a value's name after `%`")? else {
                return Err(self.c.expected("the name of a result"));
            };
            let count = if self.c.eat(":") {
                usize::try_from(self.c.integer()?).map_err(|_| Fault::new(at, "this is no number of results"))?
            } else {
                1
            };
            names.push((at, name, count));
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect("=")?;
        Ok(names)
    }

    fn define_results(&mut self, at: usize, op: &str, names: Names<'a>, mut types: Vec<Type<'a>>) -> Read<Vec<Value>> {
        let mut out = Vec::with_capacity(types.len());
        if names.is_empty() {
            for ty in types {
                out.push(self.add_value("", ty)?);
            }
            return Ok(out);
        }
        let named = names.iter().fold(0usize, |n, (_, _, m)| n.saturating_add(*m));
        if named != types.len() {
            return Err(Fault::new(at, format!("{op} has {} results, but {named} are named", types.len())));
        }
        for (at, name, count) in names {
            let rest = types.split_off(count.min(types.len()));
            self.define(at, name, std::mem::replace(&mut types, rest), &mut out)?;
        }
        Ok(out)
    }

    /// What stands behind the quoted name of an op.
    pub fn generic(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.c.expect("(")?;
        draft.operands = self.list(")", |p| p.operand())?;
        self.generic_rest(draft)
    }

    fn generic_rest(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.c.peek() == Some(b'[') {
            return Err(Fault::new(
                self.c.at,
                format!("{} has successor blocks; only structured regions are read", draft.name),
            ));
        }
        self.properties(draft)?;
        if self.c.eat("(") {
            draft.regions = self.list(")", |p| p.region(None))?;
        }
        self.optional_dict(&mut draft.attrs)?;
        self.c.expect(":")?;
        self.c.skip();
        let at = self.c.at;
        match self.ty()? {
            Type::Function(from, to) => {
                self.check_operands(draft, &from)?;
                draft.results = to;
                Ok(())
            }
            other => Err(Fault::new(at, format!("expected the type of {}, `(…) -> …`, found {other}", draft.name))),
        }
    }

    /// `<{…}>`, if it is next.
    pub fn properties(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.c.eat("<") {
            self.optional_dict(&mut draft.attrs)?;
            self.c.expect(">")?;
        }
        Ok(())
    }

    /// Do the values have the types that the text says?
    pub fn check_operands(&self, draft: &Draft<'a>, types: &[Type<'a>]) -> Read<()> {
        if draft.operands.len() != types.len() {
            let (name, n, m) = (&draft.name, draft.operands.len(), types.len());
            return Err(Fault::new(draft.at, format!("{name} has {n} operands, but types of {m}")));
        }
        draft.operands.iter().zip(types).enumerate().try_for_each(|(i, (&v, ty))| self.check_operand(draft, i, v, ty))
    }

    /// Does one value have the type that the text says?
    pub fn check_operand(&self, draft: &Draft<'a>, i: usize, v: Value, ty: &Type<'a>) -> Read<()> {
        match self.values.get(v.0 as usize) {
            Some(value) if value.ty == *ty => Ok(()),
            Some(value) => Err(Fault::new(
                draft.at,
                format!(
                    "operand {i} of {}, `%{}`, is a {}, but {ty} is what the types of the op say",
                    draft.name, value.name, value.ty
                ),
            )),
            None => Err(Fault::new(draft.at, "an operand without a type")),
        }
    }

    /// `{…}`: a region, with arguments that the op's form declares, or those of its own label.
    pub fn region(&mut self, args: Option<&[(usize, &'a str, Type<'a>)]>) -> Read<Region<'a>> {
        self.c.skip();
        let at = self.c.at;
        self.c.expect("{")?;
        if self.regions >= MAX_REGIONS {
            return Err(Fault::new(at, format!("regions nest deeper than {MAX_REGIONS} levels here")));
        }
        self.regions += 1;
        let mark = self.enter();
        let mut region = Region::default();
        for (at, name, ty) in args.unwrap_or_default() {
            self.define(*at, name, vec![ty.clone()], &mut region.args)?;
        }
        if args.is_none() && self.c.peek() == Some(b'^') {
            self.label(&mut region)?;
        }
        self.block(&mut region)?;
        self.leave(mark);
        self.regions -= 1;
        Ok(region)
    }

    /// `^bb0(%a: type, …):`.
    fn label(&mut self, region: &mut Region<'a>) -> Read<()> {
        self.c.sigil("^", "a block's name after `^`")?;
        if self.c.eat("(") {
            self.list(")", |p| {
                let (at, name, ty) = p.argument()?;
                p.define(at, name, vec![ty], &mut region.args)
            })?;
        }
        self.c.expect(":")
    }

    /// `%a: type loc(…)`, a declaration.
    pub fn argument(&mut self) -> Read<(usize, &'a str, Type<'a>)> {
        self.c.skip();
        let at = self.c.at;
        let Some(name) = self.c.sigil("%", "a value's name after `%`")? else {
            return Err(self.c.expected("an argument, `%name: type`"));
        };
        self.c.expect(":")?;
        let ty = self.ty()?;
        self.optional_loc()?;
        Ok((at, name, ty))
    }

    /// Ops up to the closing brace.
    pub fn block(&mut self, region: &mut Region<'a>) -> Read<()> {
        loop {
            match self.c.peek() {
                Some(b'}') => return self.c.expect("}"),
                Some(b'^') => {
                    return Err(Fault::new(
                        self.c.at,
                        "this region has several blocks; only structured regions are read",
                    ));
                }
                _ => region.ops.push(self.op()?),
            }
        }
    }
}
