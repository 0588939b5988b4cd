//! Modules, functions, aliases and resources: what stands outside of functions.

use super::ast::{Attr, Func, Module, NamedAttr, Region, Type};
use super::attr;
use super::fault::{Fault, Read};
use super::op::Draft;
use super::parser::{Alias, Parser, find};
use super::types;
use std::borrow::Cow;
use std::collections::HashSet;

/// A module in generic form waits for its attributes until its region is read.
enum Open {
    Pretty,
    Generic,
}

/// What has been read of a whole text.
#[derive(Default)]
struct Items<'a> {
    module: Module<'a>,
    names: HashSet<Cow<'a, str>>,
    /// Is the outermost module's name and attributes taken?
    named: bool,
}

impl<'a> Parser<'a> {
    /// A whole text.
    pub fn module(&mut self) -> Read<Module<'a>> {
        let mut items = Items::default();
        // Nested modules are flattened away; only how to close them is kept.
        let mut open: Vec<Open> = vec![];
        loop {
            match self.c.peek() {
                None if open.is_empty() => return Ok(items.module),
                None => return Err(self.c.expected("`}` at the end of the module")),
                Some(b'}') if !open.is_empty() => {
                    self.c.expect("}")?;
                    if let Some(Open::Generic) = open.pop() {
                        self.c.expect(")")?;
                        let mut attrs = vec![];
                        self.optional_dict(&mut attrs)?;
                        self.c.expect(":")?;
                        self.function_type()?;
                        if open.is_empty() {
                            name_module(&mut items.module, attrs);
                        }
                    }
                    self.optional_loc()?;
                }
                Some(b'#') => self.attr_alias()?,
                Some(b'!') => self.type_alias()?,
                Some(b'{') => self.metadata()?,
                Some(b'"') => {
                    self.c.skip();
                    let at = self.c.at;
                    let name = self.c.string()?;
                    match name.as_ref() {
                        "builtin.module" | "module" => {
                            let attrs = self.generic_module()?;
                            if open.is_empty() && !items.named {
                                name_module(&mut items.module, attrs);
                                items.named = true;
                            }
                            open.push(Open::Generic);
                        }
                        "func.func" => {
                            let f = self.generic_func(at)?;
                            push(&mut items, f)?;
                        }
                        "sdy.mesh" => self.generic_mesh(at, &mut items.module.attrs)?,
                        _ => return Err(unknown_item(at, &name)),
                    }
                }
                _ => {
                    let at = self.c.at;
                    let Some(word) = self.c.word() else { return Err(self.c.expected("a module or a function")) };
                    match word {
                        "module" | "builtin.module" => {
                            let name = self.c.symbol()?;
                            let mut attrs = vec![];
                            if self.c.eat_word("attributes") {
                                self.optional_dict(&mut attrs)?;
                            }
                            self.c.expect("{")?;
                            if open.is_empty() && !items.named {
                                items.module.name = name;
                                items.module.attrs = attrs;
                                items.named = true;
                            }
                            open.push(Open::Pretty);
                        }
                        "func.func" | "func" => {
                            let f = self.func()?;
                            push(&mut items, f)?;
                        }
                        "sdy.mesh" => self.mesh(at, &mut items.module.attrs)?,
                        word => return Err(unknown_item(at, word)),
                    }
                }
            }
        }
    }

    /// `@name = <…>`: a mesh says where values live, not what they are; it is kept as an attribute of the module.
    fn mesh(&mut self, at: usize, attrs: &mut Vec<NamedAttr<'a>>) -> Read<()> {
        self.c.symbol()?;
        self.c.expect("=")?;
        self.c.angles()?;
        self.optional_dict(&mut vec![])?;
        attrs.push((Cow::Borrowed("sdy.mesh"), Attr::Opaque(self.c.since(at))));
        self.optional_loc()?;
        Ok(())
    }

    /// The same in generic form.
    fn generic_mesh(&mut self, at: usize, attrs: &mut Vec<NamedAttr<'a>>) -> Read<()> {
        let mut draft = Draft::new("sdy.mesh", at);
        self.generic(&mut draft)?;
        attrs.push((Cow::Borrowed("sdy.mesh"), Attr::Opaque(self.c.since(at))));
        self.optional_loc()?;
        Ok(())
    }

    /// `#name = attribute`.
    fn attr_alias(&mut self) -> Read<()> {
        let at = self.c.at;
        let name = self.c.sigil("#", "a name after `#`")?.unwrap_or_default();
        self.c.expect("=")?;
        if self.c.eat_word("loc") {
            let place = self.loc_body()?;
            if self.loc_aliases.insert(name, place).is_some() {
                return Err(Fault::new(at, format!("the alias `#{name}` is defined already")));
            }
            return Ok(());
        }
        let value = self.attr()?;
        let (size, nesting) = attr::measure(&value);
        if self.attr_aliases.insert(name, Alias { value, nesting, size }).is_some() {
            return Err(Fault::new(at, format!("the alias `#{name}` is defined already")));
        }
        Ok(())
    }

    /// `!name = type`.
    fn type_alias(&mut self) -> Read<()> {
        let at = self.c.at;
        let name = self.c.sigil("!", "a name after `!`")?.unwrap_or_default();
        self.c.expect("=")?;
        let value = self.ty()?;
        let (size, nesting) = types::measure(&value);
        if self.type_aliases.insert(name, Alias { value, nesting, size }).is_some() {
            return Err(Fault::new(at, format!("the alias `!{name}` is defined already")));
        }
        Ok(())
    }

    /// `{-# dialect_resources: { builtin: { name: "0x…" } }, … #-}`.
    fn metadata(&mut self) -> Read<()> {
        self.c.expect("{-#")?;
        // Any nesting of `key: {…}`; whatever string ends it is a blob, found by its own key.
        let mut open = 0usize;
        loop {
            match self.c.peek() {
                None => return Err(self.c.expected("`#-}`")),
                Some(b'#') => {
                    self.c.expect("#-}")?;
                    return if open == 0 { Ok(()) } else { Err(self.c.expected("`}` before `#-}`")) };
                }
                Some(b'}') if open > 0 => {
                    self.c.expect("}")?;
                    open -= 1;
                    self.c.eat(",");
                }
                _ => {
                    let at = self.c.at;
                    let key = if self.c.peek() == Some(b'"') {
                        self.c.string()?
                    } else {
                        Cow::Borrowed(self.c.word().ok_or_else(|| self.c.expected("the name of a resource"))?)
                    };
                    self.c.expect(":")?;
                    if self.c.eat("{") {
                        open += 1;
                        continue;
                    }
                    match self.c.peek() {
                        Some(b'"') => match self.c.string()? {
                            Cow::Borrowed(blob) => {
                                self.resources.insert(key, blob);
                            }
                            Cow::Owned(_) => {
                                return Err(Fault::new(at, format!("the blob `{key:.60}` is no hex string")));
                            }
                        },
                        _ => {
                            if self.c.word().is_none() && self.c.number().is_empty() {
                                return Err(self.c.expected("a resource"));
                            }
                        }
                    }
                    self.c.eat(",");
                }
            }
        }
    }

    /// Up to the region of a generic module.
    fn generic_module(&mut self) -> Read<Vec<NamedAttr<'a>>> {
        self.c.expect("(")?;
        self.c.expect(")")?;
        let mut attrs = vec![];
        if self.c.eat("<") {
            self.optional_dict(&mut attrs)?;
            self.c.expect(">")?;
        }
        self.c.expect("(")?;
        self.c.expect("{")?;
        if self.c.peek() == Some(b'^') {
            self.c.sigil("^", "a block's name after `^`")?;
            self.c.expect(":")?;
        }
        Ok(attrs)
    }

    /// A function in generic form, after its name.
    fn generic_func(&mut self, at: usize) -> Read<Func<'a>> {
        self.enter_function();
        let mut draft = Draft::new("func.func", at);
        self.c.expect("(")?;
        self.c.expect(")")?;
        self.properties(&mut draft)?;
        self.c.expect("(")?;
        // A declaration has an empty region.
        let before = self.c;
        let declared = self.c.eat("{") && self.c.eat("}");
        if !declared {
            self.c = before;
            let region = self.region(None)?;
            draft.regions.push(region);
        }
        self.c.expect(")")?;
        self.optional_dict(&mut draft.attrs)?;
        self.c.expect(":")?;
        self.function_type()?;
        self.optional_loc()?;
        self.func_of(draft)
    }

    /// The function that the attributes of its generic form describe.
    fn func_of(&mut self, draft: Draft<'a>) -> Read<Func<'a>> {
        let at = draft.at;
        let missing = |what: &str| Fault::new(at, format!("this function has no {what}"));
        let name = match find(&draft.attrs, "sym_name") {
            Some(Attr::Str(s)) => s.clone(),
            _ => return Err(missing("`sym_name`")),
        };
        let (from, results) = match find(&draft.attrs, "function_type") {
            Some(Attr::Type(Type::Function(from, to))) => (from.clone(), to.clone()),
            _ => return Err(missing("`function_type`")),
        };
        let public = !matches!(find(&draft.attrs, "sym_visibility"), Some(Attr::Str(s)) if s == "private");
        let dicts = |name: &str, n: usize| -> Vec<Vec<NamedAttr<'a>>> {
            let mut all: Vec<_> = match find(&draft.attrs, name) {
                Some(Attr::Array(all)) => all
                    .iter()
                    .map(|a| match a {
                        Attr::Dict(d) => d.clone(),
                        _ => vec![],
                    })
                    .collect(),
                _ => vec![],
            };
            all.resize(n, vec![]);
            all
        };
        let (arg_attrs, result_attrs) = (dicts("arg_attrs", from.len()), dicts("res_attrs", results.len()));
        let body = draft.regions.into_iter().next();
        match &body {
            Some(body) => {
                let types = body.args.iter().filter_map(|&v| self.type_of(v));
                if !types.eq(&from) {
                    return Err(Fault::new(
                        at,
                        format!("the arguments of the body of @{name} are not those of its type"),
                    ));
                }
            }
            None => {
                for ty in from {
                    self.add_value("", ty)?;
                }
            }
        }
        let known = ["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"];
        let attrs = draft.attrs.into_iter().filter(|(n, _)| !known.contains(&n.as_ref())).collect();
        Ok(Func {
            name,
            public,
            arg_attrs,
            results,
            result_attrs,
            attrs,
            values: std::mem::take(&mut self.values),
            body,
            at,
        })
    }

    /// `public @name(%a: type {…}, …) -> (type {…}, …) attributes {…} {…}`.
    fn func(&mut self) -> Read<Func<'a>> {
        self.enter_function();
        let public = if self.c.eat_word("private") {
            false
        } else {
            let _ = self.c.eat_word("public") || self.c.eat_word("nested");
            true
        };
        self.c.skip();
        let at = self.c.at;
        let Some(name) = self.c.symbol()? else { return Err(self.c.expected("a function's name, `@name`")) };
        self.c.expect("(")?;
        let mut region = Region::default();
        let mut named = true;
        let arg_attrs = self.list(")", |p| {
            let mut attrs = vec![];
            if p.c.peek() == Some(b'%') {
                p.c.skip();
                let at = p.c.at;
                let name = p.c.sigil("%", "a value's name after `%`")?.unwrap_or_default();
                p.c.expect(":")?;
                let ty = p.ty()?;
                p.define(at, name, vec![ty], &mut region.args)?;
            } else {
                named = false;
                let ty = p.ty()?;
                region.args.push(p.add_value("", ty)?);
            }
            p.optional_dict(&mut attrs)?;
            p.optional_loc()?;
            Ok(attrs)
        })?;
        let (results, result_attrs) = self.func_results()?;
        let mut attrs = vec![];
        if self.c.eat_word("attributes") {
            self.optional_dict(&mut attrs)?;
        }
        self.optional_loc()?;
        let body = if self.c.eat("{") {
            if !named {
                return Err(Fault::new(at, format!("@{name} has a body, but arguments without names")));
            }
            // The label of the entry block says nothing new.
            if self.c.peek() == Some(b'^') && region.args.is_empty() {
                self.c.sigil("^", "a block's name after `^`")?;
                self.c.expect(":")?;
            }
            self.block(&mut region)?;
            self.optional_loc()?;
            Some(region)
        } else {
            None
        };
        let values = std::mem::take(&mut self.values);
        Ok(Func { name, public, arg_attrs, results, result_attrs, attrs, values, body, at })
    }

    fn func_results(&mut self) -> Read<(Vec<Type<'a>>, Vec<Vec<NamedAttr<'a>>>)> {
        if !self.c.eat("->") {
            return Ok((vec![], vec![]));
        }
        if !self.c.eat("(") {
            return Ok((vec![self.ty()?], vec![vec![]]));
        }
        let all = self.list(")", |p| {
            let ty = p.ty()?;
            let mut attrs = vec![];
            p.optional_dict(&mut attrs)?;
            Ok((ty, attrs))
        })?;
        Ok(all.into_iter().unzip())
    }
}

fn name_module<'a>(module: &mut Module<'a>, attrs: Vec<NamedAttr<'a>>) {
    for (name, value) in attrs {
        match (name.as_ref(), value) {
            ("sym_name", Attr::Str(s)) => module.name = Some(s),
            (_, value) => module.attrs.push((name, value)),
        }
    }
}

fn push<'a>(items: &mut Items<'a>, f: Func<'a>) -> Read<()> {
    if !items.names.insert(f.name.clone()) {
        return Err(Fault::new(f.at, format!("the function @{} is defined already", f.name)));
    }
    items.module.funcs.push(f);
    Ok(())
}

fn unknown_item(at: usize, name: &str) -> Fault {
    Fault::new(at, format!("expected a module, a function or an alias, found `{name:.60}`"))
}
