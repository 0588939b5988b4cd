//! Events: what a plugin signals when work that it started is done.

use crate::error::Stage;
use crate::ffi::{
    Args, PJRT_Error, PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Destroy_Args, PJRT_Event_OnReady_Args, call, slot,
};
use crate::plugin::Plugin;
use evoxc_core::Result;
use std::any::Any;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// An event of a plugin, or none: work that was done at once.
pub(crate) struct Event {
    plugin: Arc<Plugin>,
    raw: Option<NonNull<PJRT_Event>>,
}

impl Event {
    /// Takes over an event that the plugin gave.
    ///
    /// # Safety
    /// `raw` is null or a live event of the plugin that nobody else destroys.
    pub(crate) unsafe fn new(plugin: &Arc<Plugin>, raw: *mut PJRT_Event) -> Event {
        Event { plugin: plugin.clone(), raw: NonNull::new(raw) }
    }

    /// Waits until it is done.
    pub(crate) fn wait(&self, stage: Stage) -> Result<()> {
        let Some(raw) = self.raw else { return Ok(()) };
        let mut args = PJRT_Event_Await_Args { event: raw.as_ptr(), ..PJRT_Event_Await_Args::new() };
        // SAFETY: the event is live until it is dropped.
        unsafe { call!(&self.plugin, stage, PJRT_Event_Await, &mut args) }
    }

    /// Keeps a value until the event is done, whatever becomes of this handle.
    pub(crate) fn keep(self, value: Box<dyn Any + Send>, stage: Stage) -> Result<()> {
        let Some(raw) = self.raw else { return Ok(()) };
        let kept = Box::into_raw(Box::new(Kept { plugin: self.plugin.clone(), _value: value }));
        let mut args = PJRT_Event_OnReady_Args {
            event: raw.as_ptr(),
            callback: Some(release),
            user_arg: kept.cast(),
            ..PJRT_Event_OnReady_Args::new()
        };
        // SAFETY: the event is live; the callback gets the pointer that it expects, and is called once, on any thread,
        // which `Kept` may be dropped on. If registering fails it is not called and the value stays forever, so that
        // memory which the plugin may still read is never freed under it.
        unsafe { call!(&self.plugin, stage, PJRT_Event_OnReady, &mut args) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let Some(raw) = self.raw else { return };
        if let Some(function) = slot!(&self.plugin, PJRT_Event_Destroy) {
            let mut args = PJRT_Event_Destroy_Args { event: raw.as_ptr(), ..PJRT_Event_Destroy_Args::new() };
            // SAFETY: this handle owns the event and is gone after this. Destroying one does not cancel its callbacks.
            let error = unsafe { function(&mut args) };
            self.plugin.destroy(error);
        }
    }
}

/// What an event keeps.
struct Kept {
    plugin: Arc<Plugin>,
    _value: Box<dyn Any + Send>,
}

/// The callback of [`Event::keep`].
///
/// # Safety
/// `kept` comes from `Box::into_raw` of a [`Kept`], and `error` is null or an error that the callback owns.
unsafe extern "C" fn release(error: *mut PJRT_Error, kept: *mut c_void) {
    // SAFETY: by the contract above; the pointer is used here only.
    let kept = unsafe { Box::from_raw(kept.cast::<Kept>()) };
    kept.plugin.destroy(error);
}
