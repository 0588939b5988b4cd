//! What a text defines after its use: locations and resource blobs, put in their places at the end.

use super::ast::{Attr, Dense, DenseData, Module, NamedAttr, Region};
use super::cursor::Cursor;
use super::fault::{Fault, Read};
use super::location;
use super::parser::Parser;

impl<'a> Parser<'a> {
    /// Puts locations and blobs in their places.
    pub fn settle(&mut self, module: &mut Module<'a>) -> Read<()> {
        if !self.uses_loc_aliases && !self.uses_resources {
            return Ok(());
        }
        self.settle_attrs(&mut module.attrs)?;
        for f in &mut module.funcs {
            self.settle_attrs(&mut f.attrs)?;
            for attrs in f.arg_attrs.iter_mut().chain(&mut f.result_attrs) {
                self.settle_attrs(attrs)?;
            }
            if let Some(body) = &mut f.body {
                self.settle_region(body)?;
            }
        }
        Ok(())
    }

    // As deep as regions may nest.
    fn settle_region(&mut self, region: &mut Region<'a>) -> Read<()> {
        for op in &mut region.ops {
            location::settle(&mut op.loc, &mut self.loc_aliases);
            self.settle_attrs(&mut op.attrs)?;
            for region in &mut op.regions {
                self.settle_region(region)?;
            }
        }
        Ok(())
    }

    fn settle_attrs(&self, attrs: &mut [NamedAttr<'a>]) -> Read<()> {
        if self.uses_resources { attrs.iter_mut().try_for_each(|(_, a)| self.settle_attr(a)) } else { Ok(()) }
    }

    // As deep as attributes may nest.
    fn settle_attr(&self, attr: &mut Attr<'a>) -> Read<()> {
        match attr {
            Attr::Array(all) => all.iter_mut().try_for_each(|a| self.settle_attr(a)),
            Attr::Dict(all) | Attr::Record(_, all) => self.settle_attrs(all),
            Attr::Dense(Dense { data: DenseData::Resource(text), at, .. }) => {
                let name = if text.starts_with('"') { Cursor::new(text).string()? } else { (*text).into() };
                let blob = self.resources.get(&name);
                *text = blob.ok_or_else(|| {
                    let elided = "the elements of this constant were left out when it was printed";
                    let missing = format!("there is no resource `{name:.60}` in this text");
                    Fault::new(*at, if name == "__elided__" { elided } else { &missing })
                })?;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
