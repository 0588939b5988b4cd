//! Pretty forms with code of their own: reductions, loops, scans, constants.

use super::ast::{Attr, Element, Op, Region, Type};
use super::fault::{Fault, Read};
use super::forms::{Signature, Special};
use super::op::Draft;
use super::parser::Parser;
use evoxc_core::DType;
use std::borrow::Cow;

impl<'a> Parser<'a> {
    /// Reads a special form.
    pub fn special(&mut self, draft: &mut Draft<'a>, special: Special) -> Read<()> {
        match special {
            Special::Reduce => self.reduce(draft),
            Special::While => self.while_op(draft),
            Special::Scan => self.scan(draft),
            Special::TopK => self.top_k(draft),
            Special::Manual => self.manual(draft),
            Special::Constant => self.constant(draft),
            Special::ScalarConstant => self.scalar_constant(draft),
            Special::ShapeConstant => {
                let shape = self.array()?;
                draft.set("shape", shape);
                self.optional_dict(&mut draft.attrs)?;
                self.signature(draft, Signature::Result)
            }
        }
    }

    /// `(%a init: %b), … applies stablehlo.add across dimensions = [1] {…} : types`, or without `applies` and with
    /// `reducer(%x: t, %y: t) … {…}` at the end.
    fn reduce(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        let mut inits = vec![];
        while self.c.eat("(") {
            let v = self.operand()?;
            draft.operands.push(v);
            self.c.expect_word("init")?;
            self.c.expect(":")?;
            inits.push(self.operand()?);
            self.c.expect(")")?;
            if !self.c.eat(",") {
                break;
            }
        }
        let pairs = inits.len();
        draft.operands.extend(inits);
        let applied = if self.c.eat_word("applies") {
            self.c.skip();
            let at = self.c.at;
            let name = if self.c.peek() == Some(b'"') {
                self.c.string()?
            } else {
                Cow::Borrowed(self.c.word().ok_or_else(|| self.c.expected("the name of an op"))?)
            };
            Some((at, name))
        } else {
            None
        };
        self.c.expect_word("across")?;
        self.c.expect_word("dimensions")?;
        self.c.expect("=")?;
        let dimensions = self.array()?;
        draft.set("dimensions", dimensions);
        self.optional_dict(&mut draft.attrs)?;
        self.c.expect(":")?;
        let (from, to) = self.function_type()?;
        self.check_operands(draft, &from)?;
        draft.results = to;
        draft.implied = applied.is_some();
        let region = match applied {
            Some((at, name)) => self.applied(draft, at, name)?,
            None => self.reducer(pairs)?,
        };
        draft.regions.push(region);
        Ok(())
    }

    /// The region of one op on scalars that `applies` stands for.
    fn applied(&mut self, draft: &Draft<'a>, at: usize, name: Cow<'a, str>) -> Read<Region<'a>> {
        let scalar = draft.operands.first().and_then(|&v| self.scalar_of(v));
        let Some(scalar) = scalar else {
            return Err(Fault::new(draft.at, "a reduction that applies an op needs a tensor operand"));
        };
        let op = |p: &mut Self, label| p.add_value(label, scalar.clone());
        let (lhs, rhs, out) = (op(self, "lhs")?, op(self, "rhs")?, op(self, "out")?);
        let plain =
            |name, operands, results| Op { name, operands, results, attrs: vec![], regions: vec![], at, loc: None };
        let ops =
            vec![plain(name, vec![lhs, rhs], vec![out]), plain(Cow::Borrowed("stablehlo.return"), vec![out], vec![])];
        Ok(Region { args: vec![lhs, rhs], ops })
    }

    fn reducer(&mut self, pairs: usize) -> Read<Region<'a>> {
        self.c.expect_word("reducer")?;
        let (mut firsts, mut seconds) = (vec![], vec![]);
        while self.c.eat("(") {
            firsts.push(self.argument()?);
            self.c.expect(",")?;
            seconds.push(self.argument()?);
            self.c.expect(")")?;
        }
        if firsts.len() != pairs {
            return Err(self.c.expected(&format!("{pairs} pairs of the reducer's arguments")));
        }
        firsts.extend(seconds);
        self.region(Some(&firsts))
    }

    /// `(%x = %a, …) : types attributes {…} cond {…} do {…}`.
    fn while_op(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.c.expect("(")?;
        let mut names = vec![];
        let operands = self.list(")", |p| {
            p.c.skip();
            let at = p.c.at;
            match p.c.sigil("%", "a value's name after `%`")? {
                Some(name) => names.push((at, name)),
                None => return Err(p.c.expected("an argument, `%name = %value`")),
            }
            p.c.expect("=")?;
            p.operand()
        })?;
        draft.operands = operands;
        let mut types = vec![];
        if self.c.eat(":") {
            types.push(self.ty()?);
            while self.c.eat(",") {
                types.push(self.ty()?);
            }
        }
        self.check_operands(draft, &types)?;
        if self.c.eat_word("attributes") {
            self.optional_dict(&mut draft.attrs)?;
        }
        let args: Vec<_> = names.into_iter().zip(&types).map(|((at, name), ty)| (at, name, ty.clone())).collect();
        self.c.expect_word("cond")?;
        let cond = self.region(Some(&args))?;
        self.c.expect_word("do")?;
        let body = self.region(Some(&args))?;
        draft.regions = vec![cond, body];
        draft.results = types;
        Ok(())
    }

    /// `(%a, …) inits(%b, …) dimension=0 attributes {…} {^bb0…} : types`.
    fn scan(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.c.expect("(")?;
        let inputs = self.list(")", |p| p.operand())?;
        self.c.expect_word("inits")?;
        self.c.expect("(")?;
        let inits = self.list(")", |p| p.operand())?;
        self.c.expect_word("dimension")?;
        self.c.expect("=")?;
        let dimension = self.c.integer()?;
        draft.set("dimension", Attr::Int(dimension));
        // As the generic form tells the two groups of operands apart.
        let sizes = [inputs.len(), inits.len()].map(|n| Attr::Int(n as i128));
        draft.set("operandSegmentSizes", Attr::Array(sizes.to_vec()));
        draft.operands = inputs;
        draft.operands.extend(inits);
        if self.c.eat_word("attributes") {
            self.optional_dict(&mut draft.attrs)?;
        }
        let body = self.region(None)?;
        draft.regions = vec![body];
        self.signature(draft, Signature::Function)
    }

    /// `(%a) in_shardings=[…] out_shardings=[…] manual_axes={…} (%b: t) {…} : types`.
    fn manual(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.c.expect("(")?;
        draft.operands = self.list(")", |p| p.operand())?;
        for (name, opening, closing) in
            [("in_shardings", b'[', b']'), ("out_shardings", b'[', b']'), ("manual_axes", b'{', b'}')]
        {
            self.c.expect_word(name)?;
            self.c.expect("=")?;
            self.c.skip();
            let start = self.c.at;
            self.c.group(opening, closing)?;
            draft.set(name, Attr::Opaque(self.c.since(start)));
        }
        self.c.expect("(")?;
        let args = self.list(")", |p| p.argument())?;
        let body = self.region(Some(&args))?;
        draft.regions = vec![body];
        self.optional_dict(&mut draft.attrs)?;
        self.signature(draft, Signature::Function)
    }

    /// `(%a, k = 8) {…} : T -> (V, I)`.
    fn top_k(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.c.expect("(")?;
        draft.operands = vec![self.operand()?];
        self.c.expect(",")?;
        self.c.expect_word("k")?;
        self.c.expect("=")?;
        let k = self.c.integer()?;
        draft.set("k", Attr::Int(k));
        self.c.expect(")")?;
        self.optional_dict(&mut draft.attrs)?;
        self.signature(draft, Signature::Arrow)
    }

    /// `{…} dense<…> : type`, or `() {value = …} : () -> type` where the two types differ.
    fn constant(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.c.peek() == Some(b'(') {
            return self.generic(draft);
        }
        self.optional_dict(&mut draft.attrs)?;
        self.c.skip();
        let at = self.c.at;
        match self.attr()? {
            value @ Attr::Dense(_) => draft.set("value", value),
            _ => return Err(Fault::new(at, "expected a constant, `dense<…> : tensor<…>`")),
        }
        self.signature(draft, Signature::Value)
    }

    /// `dense<…> : type`, `4 : index`, `true`.
    fn scalar_constant(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.optional_dict(&mut draft.attrs)?;
        let bool_type = Type::Scalar(Element::Known(DType::BOOL));
        for (word, value) in [("true", true), ("false", false)] {
            if self.c.eat_word(word) {
                draft.set("value", Attr::Bool(value));
                draft.results = vec![bool_type];
                return Ok(());
            }
        }
        if matches!(self.c.peek(), Some(c) if c == b'-' || c.is_ascii_digit()) {
            let start = self.c;
            self.c.number();
            self.c.expect(":")?;
            let ty = self.ty()?;
            let end = self.c;
            self.c = start;
            let value = self.attr()?;
            self.c = end;
            draft.set("value", value);
            draft.results = vec![ty];
            return Ok(());
        }
        self.constant(draft)
    }
}
