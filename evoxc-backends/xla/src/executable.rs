//! Executables: compiled from StableHLO text, or read back from bytes, and called.

use crate::client::Client;
use crate::error::{Stage, error};
use crate::event::Event;
use crate::ffi::{
    Args, PJRT_Buffer, PJRT_Client_Compile_Args, PJRT_Executable, PJRT_Executable_DeserializeAndLoad_Args,
    PJRT_Executable_Destroy_Args, PJRT_Executable_NumOutputs_Args, PJRT_Executable_Serialize_Args, PJRT_ExecuteOptions,
    PJRT_LoadedExecutable, PJRT_LoadedExecutable_Destroy_Args, PJRT_LoadedExecutable_Execute_Args,
    PJRT_LoadedExecutable_GetExecutable_Args, PJRT_Program, call, slot,
};
use crate::plugin::bytes;
use evoxc_core::Result;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// A program of a client, loaded on one of its devices.
pub(crate) struct Loaded {
    client: Arc<Client>,
    raw: NonNull<PJRT_LoadedExecutable>,
}

// SAFETY: loaded executables may be used from any thread, by any number at once.
unsafe impl Send for Loaded {}
// SAFETY: as for `Send`.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// Compiles StableHLO text for the device that the options say.
    pub(crate) fn compile(client: &Arc<Client>, text: &str, options: &[u8]) -> Result<Loaded> {
        const FORMAT: &str = "mlir";
        let program = PJRT_Program {
            code: text.as_ptr().cast::<std::ffi::c_char>().cast_mut(),
            code_size: text.len(),
            format: FORMAT.as_ptr().cast(),
            format_size: FORMAT.len(),
            ..PJRT_Program::new()
        };
        let mut args = PJRT_Client_Compile_Args {
            client: client.raw(),
            program: &program,
            compile_options: options.as_ptr().cast(),
            compile_options_size: options.len(),
            ..PJRT_Client_Compile_Args::new()
        };
        // SAFETY: the client lives as long as the process; program and options live until the end of the call, which reads
        // them only.
        unsafe { call!(&client.plugin, Stage::Compile, PJRT_Client_Compile, &mut args) }?;
        Loaded::new(client, args.executable, Stage::Compile)
    }

    /// Reads what [`Loaded::serialise`] wrote, for the device that the options say.
    pub(crate) fn read(client: &Arc<Client>, saved: &[u8], options: &[u8]) -> Result<Loaded> {
        let mut args = PJRT_Executable_DeserializeAndLoad_Args {
            client: client.raw(),
            serialized_executable: saved.as_ptr().cast(),
            serialized_executable_size: saved.len(),
            overridden_serialized_compile_options: options.as_ptr().cast(),
            overridden_serialized_compile_options_size: options.len(),
            ..PJRT_Executable_DeserializeAndLoad_Args::new()
        };
        // SAFETY: the client lives as long as the process; bytes and options live until the end of the call, which reads
        // them only.
        unsafe { call!(&client.plugin, Stage::LoadExecutable, PJRT_Executable_DeserializeAndLoad, &mut args) }?;
        Loaded::new(client, args.loaded_executable, Stage::LoadExecutable)
    }

    fn new(client: &Arc<Client>, raw: *mut PJRT_LoadedExecutable, stage: Stage) -> Result<Loaded> {
        let raw = NonNull::new(raw).ok_or_else(|| error(stage, "the plugin gave no executable"))?;
        Ok(Loaded { client: client.clone(), raw })
    }

    /// The executable as bytes, for the same plugin on the same kind of processor.
    pub(crate) fn serialise(&self) -> Result<Vec<u8>> {
        let plugin = &self.client.plugin;
        let inner = self.inner()?;
        let mut args = PJRT_Executable_Serialize_Args { executable: inner.0, ..PJRT_Executable_Serialize_Args::new() };
        // SAFETY: the executable is live; the bytes that it gives live until their deleter is called, once, after they are
        // copied.
        unsafe {
            call!(plugin, Stage::Serialise, PJRT_Executable_Serialize, &mut args)?;
            let saved = bytes(args.serialized_bytes, args.serialized_bytes_size).to_vec();
            if let Some(delete) = args.serialized_executable_deleter {
                delete(args.serialized_executable);
            }
            Ok(saved)
        }
    }

    /// The client that it is loaded in.
    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.client
    }
    /// The number of results.
    pub(crate) fn outputs(&self) -> Result<usize> {
        let inner = self.inner()?;
        let mut args =
            PJRT_Executable_NumOutputs_Args { executable: inner.0, ..PJRT_Executable_NumOutputs_Args::new() };
        // SAFETY: the executable is live.
        unsafe { call!(&self.client.plugin, Stage::Compile, PJRT_Executable_NumOutputs, &mut args) }?;
        Ok(args.num_outputs)
    }

    fn inner(&self) -> Result<Inner<'_>> {
        let mut args = PJRT_LoadedExecutable_GetExecutable_Args {
            loaded_executable: self.raw.as_ptr(),
            ..PJRT_LoadedExecutable_GetExecutable_Args::new()
        };
        // SAFETY: the loaded executable is live.
        unsafe { call!(&self.client.plugin, Stage::Compile, PJRT_LoadedExecutable_GetExecutable, &mut args) }?;
        Ok(Inner(args.executable, &self.client))
    }

    /// Runs it on the device that it was loaded for, and waits until it is done. `results` are filled.
    ///
    /// # Safety
    /// As many live buffers of this client as the program has parameters, of their types; those that `kept` does not list
    /// may be consumed: nobody may read them any more. As many results as [`Loaded::outputs`] says.
    pub(crate) unsafe fn run(
        &self,
        arguments: &[*mut PJRT_Buffer],
        kept: &[i64],
        results: &mut [*mut PJRT_Buffer],
    ) -> Result<()> {
        let plugin = &self.client.plugin;
        let mut options = PJRT_ExecuteOptions {
            non_donatable_input_indices: kept.as_ptr(),
            num_non_donatable_input_indices: kept.len(),
            ..PJRT_ExecuteOptions::new()
        };
        let (argument_list, result_list) = (arguments.as_ptr(), results.as_mut_ptr());
        let mut done = null_mut();
        let mut args = PJRT_LoadedExecutable_Execute_Args {
            executable: self.raw.as_ptr(),
            options: &mut options,
            argument_lists: &argument_list,
            num_devices: 1,
            num_args: arguments.len(),
            output_lists: &result_list,
            device_complete_events: &mut done,
            ..PJRT_LoadedExecutable_Execute_Args::new()
        };
        // SAFETY: buffers and results by this function's contract; the lists, options and indices live until the end of the
        // call. The event is ours.
        let done = unsafe {
            call!(plugin, Stage::Execute, PJRT_LoadedExecutable_Execute, &mut args)?;
            Event::new(plugin, done)
        };
        done.wait(Stage::Execute)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let plugin = &self.client.plugin;
        if let Some(function) = slot!(plugin, PJRT_LoadedExecutable_Destroy) {
            let mut args = PJRT_LoadedExecutable_Destroy_Args {
                executable: self.raw.as_ptr(),
                ..PJRT_LoadedExecutable_Destroy_Args::new()
            };
            // SAFETY: this is the executable's only owner, and gone after this.
            let error = unsafe { function(&mut args) };
            plugin.destroy(error);
        }
    }
}

/// The part of a loaded executable that does not depend on a device.
struct Inner<'a>(*mut PJRT_Executable, &'a Client);

impl Drop for Inner<'_> {
    fn drop(&mut self) {
        let plugin = &self.1.plugin;
        if let Some(function) = slot!(plugin, PJRT_Executable_Destroy) {
            let mut args = PJRT_Executable_Destroy_Args { executable: self.0, ..PJRT_Executable_Destroy_Args::new() };
            // SAFETY: the plugin gave this handle to us, and it is gone after this.
            let error = unsafe { function(&mut args) };
            plugin.destroy(error);
        }
    }
}
