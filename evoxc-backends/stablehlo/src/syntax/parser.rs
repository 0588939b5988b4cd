//! The state of reading one text: aliases, the values in scope, and how deep it is nested.

use super::ast::{Attr, NamedAttr, Type, Value, ValueInfo};
use super::cursor::Cursor;
use super::fault::{Fault, Read};
use super::location::Place;
use std::borrow::Cow;
use std::collections::HashMap;

/// How deep attributes and types may nest.
pub(crate) const MAX_NESTING: usize = 64;

/// How deep regions may nest.
pub(crate) const MAX_REGIONS: usize = 64;

/// What an alias stands for, with its nesting and size, for aliases of aliases grow faster than their text.
pub(crate) struct Alias<T> {
    pub value: T,
    pub nesting: usize,
    pub size: usize,
}

// The maps hash with the standard library's keyed hash, since the text chooses the keys.
pub(crate) struct Parser<'a> {
    pub c: Cursor<'a>,
    pub type_aliases: HashMap<&'a str, Alias<Type<'a>>>,
    pub attr_aliases: HashMap<&'a str, Alias<Attr<'a>>>,
    pub loc_aliases: HashMap<&'a str, Place<'a>>,
    /// Blobs by name, as hex text.
    pub resources: HashMap<Cow<'a, str>, &'a str>,
    /// Was there a `dense_resource`, a location by alias?
    pub uses_resources: bool,
    pub uses_loc_aliases: bool,
    /// Are bare words attributes here?
    pub words: bool,
    nesting: usize,
    pub regions: usize,
    /// How much more aliases may expand to.
    budget: usize,
    /// Values of the current function.
    pub values: Vec<ValueInfo<'a>>,
    scope: HashMap<&'a str, (u32, u32)>,
    names: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Parser<'a> {
        Parser {
            c: Cursor::new(text),
            type_aliases: HashMap::new(),
            attr_aliases: HashMap::new(),
            loc_aliases: HashMap::new(),
            resources: HashMap::new(),
            uses_resources: false,
            uses_loc_aliases: false,
            words: false,
            nesting: 0,
            regions: 0,
            budget: text.len().saturating_mul(16).saturating_add(1 << 20),
            values: vec![],
            scope: HashMap::new(),
            names: vec![],
        }
    }

    /// Runs `read` one level deeper.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.nesting >= MAX_NESTING {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        let out = read(self);
        self.nesting -= 1;
        out
    }

    fn too_deep(&self) -> Fault {
        Fault::fatal(self.c.at, format!("attributes and types nest deeper than {MAX_NESTING} levels here"))
    }

    /// A copy of what an alias stands for.
    pub fn expand<T: Clone>(
        &mut self,
        at: usize,
        name: &str,
        kind: &str,
        table: impl Fn(&Self) -> Option<&Alias<T>>,
    ) -> Read<T> {
        let Some(alias) = table(self) else {
            return Err(Fault::new(at, format!("the alias `{kind}{name}` is not defined before this use")));
        };
        if self.nesting + alias.nesting > MAX_NESTING {
            return Err(self.too_deep());
        }
        let (value, size) = (alias.value.clone(), alias.size);
        self.budget = self
            .budget
            .checked_sub(size)
            .ok_or_else(|| Fault::fatal(at, "the aliases of this text expand to far more than the text itself"))?;
        Ok(value)
    }

    /// Forgets the values of the last function.
    pub fn enter_function(&mut self) {
        self.values.clear();
        self.scope.clear();
        self.names.clear();
    }

    /// Opens a scope of names; give what it returns to [`Parser::leave`].
    pub fn enter(&mut self) -> usize {
        self.names.len()
    }

    /// Closes a scope.
    pub fn leave(&mut self, mark: usize) {
        for name in self.names.drain(mark.min(self.names.len())..) {
            self.scope.remove(name);
        }
    }

    /// A value that has no name to be found by.
    pub fn add_value(&mut self, name: impl Into<Cow<'a, str>>, ty: Type<'a>) -> Read<Value> {
        let n = u32::try_from(self.values.len()).map_err(|_| Fault::new(self.c.at, "too many values"))?;
        self.values.push(ValueInfo { name: name.into(), ty });
        Ok(Value(n))
    }

    /// Defines a name for `types.len()` values.
    pub fn define(&mut self, at: usize, name: &'a str, types: Vec<Type<'a>>, out: &mut Vec<Value>) -> Read<()> {
        let first = self.values.len();
        let count = types.len();
        for (i, ty) in types.into_iter().enumerate() {
            let shown = if count == 1 { Cow::Borrowed(name) } else { Cow::Owned(format!("{name}#{i}")) };
            out.push(self.add_value(shown, ty)?);
        }
        let (first, count) = match (u32::try_from(first), u32::try_from(count)) {
            (Ok(f), Ok(c)) => (f, c),
            _ => return Err(Fault::new(at, "too many values")),
        };
        if self.scope.insert(name, (first, count)).is_some() {
            return Err(Fault::new(at, format!("`%{name}` is defined already")));
        }
        self.names.push(name);
        Ok(())
    }

    /// A use of a value, `%x` or `%x#1`, if one is next.
    pub fn optional_operand(&mut self) -> Read<Option<Value>> {
        self.c.skip();
        let at = self.c.at;
        let Some(name) = self.c.sigil("%", "a value's name after `%`")? else { return Ok(None) };
        let number = if self.c.peek_raw() == Some(b'#') {
            self.c.at += 1;
            let digits = self.c.take_while(|c| c.is_ascii_digit());
            digits.parse::<u32>().map_err(|_| Fault::new(at, "expected the number of a result after `#`"))?
        } else {
            0
        };
        match self.scope.get(name) {
            None => Err(Fault::new(at, format!("`%{name}` is not defined before this use"))),
            Some(&(first, count)) if number < count => Ok(Some(Value(first + number))),
            Some((_, count)) => Err(Fault::new(at, format!("`%{name}` has {count} results; there is no `#{number}`"))),
        }
    }

    /// A use of a value.
    pub fn operand(&mut self) -> Read<Value> {
        match self.optional_operand()? {
            Some(v) => Ok(v),
            None => Err(self.c.expected("a value, `%name`")),
        }
    }

    /// The type of a value.
    pub fn type_of(&self, v: Value) -> Option<&Type<'a>> {
        self.values.get(v.0 as usize).map(|v| &v.ty)
    }

    /// A comma-separated list up to `close`, whose opening is taken already.
    pub fn list<T>(&mut self, close: &str, mut one: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut all = vec![];
        if self.c.eat(close) {
            return Ok(all);
        }
        loop {
            all.push(one(self)?);
            if self.c.eat(close) {
                return Ok(all);
            }
            if !self.c.eat(",") {
                return Err(self.c.expected(&format!("`,` or `{close}`")));
            }
        }
    }
}

/// The attribute of a name.
pub(crate) fn find<'b, 'a>(attrs: &'b [NamedAttr<'a>], name: &str) -> Option<&'b Attr<'a>> {
    attrs.iter().find(|(n, _)| n == name).map(|(_, a)| a)
}
