//! The C interface: its structs, and calling it.
//!
//! Nothing outside this crate sees these types, and nothing outside this folder reads the table of functions.

#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code)]
mod bindings;
mod layout;

pub(crate) use bindings::*;
pub(crate) use layout::Args;

/// A function of a plugin's table, `None` where the plugin's table ends before it or has no entry.
macro_rules! slot {
    ($plugin:expr, $name:ident) => {{
        let plugin: &$crate::plugin::Plugin = $plugin;
        let at = std::mem::offset_of!($crate::ffi::PJRT_Api, $name);
        if plugin.has(at) {
            #[allow(unused_unsafe)] // inside `call!` the caller's block is around it
            // SAFETY: the table lives as long as the process, and its stated size covers this entry, which is a nullable
            // function pointer; the reference to the whole table is never made, as it may be shorter than our struct.
            let entry = unsafe { (&raw const (*plugin.table()).$name).read() };
            entry
        } else {
            None
        }
    }};
}

/// Calls a function of the plugin with arguments, for its error. Callers say why the pointers in the arguments are valid.
macro_rules! call {
    ($plugin:expr, $stage:expr, $name:ident, $args:expr) => {{
        let plugin: &$crate::plugin::Plugin = $plugin;
        match $crate::ffi::slot!(plugin, $name) {
            Some(function) => {
                let error = function($args);
                plugin.check($stage, error)
            }
            None => Err($crate::error::absent(plugin, $stage, stringify!($name))),
        }
    }};
}

pub(crate) use call;
pub(crate) use slot;
