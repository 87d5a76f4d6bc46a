//! The library as a file that a program loads.

/// Keeps the code of the library where it is, though the program unloads it: threads of a generator
/// may run on for a moment. Elsewhere than on Windows, the library is linked so.
#[cfg(windows)]
#[allow(unsafe_code)]
pub fn keep_loaded() {
    use std::ptr::null_mut;

    use windows_sys::Win32::System::LibraryLoader::{
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
    };

    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
    let code: fn() = keep_loaded;
    let mut module = null_mut();
    // SAFETY: with this flag, any address within a module is taken, and `module` outlives the call.
    // A failure changes nothing.
    unsafe { GetModuleHandleExW(flags, code as *const u16, &raw mut module) };
}

/// The same.
#[cfg(not(windows))]
pub const fn keep_loaded() {}
