//! Filling and copying memory, by whatever alignment.
//!
//! The compiler calls another function for each alignment, and its library has a loop of its own in each. One is enough here.

unsafe extern "C" {
    fn __aeabi_memset(dest: *mut u8, count: usize, byte: i32);
    fn __aeabi_memcpy(dest: *mut u8, source: *const u8, count: usize);
}

/// Writes functions of the run-time ABI for the Arm architecture, section 4.3.4, that fill.
macro_rules! fill {
    ($($name:ident($($byte:ident: i32)?) = $value:expr;)*) => {$(
        /// # Safety
        ///
        /// As of `memset`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(dest: *mut u8, count: usize $(, $byte: i32)?) {
            // SAFETY: the caller's.
            unsafe { __aeabi_memset(dest, count, $value) }
        }
    )*};
}

fill! {
    __aeabi_memset4(byte: i32) = byte;
    __aeabi_memset8(byte: i32) = byte;
    __aeabi_memclr() = 0;
    __aeabi_memclr4() = 0;
    __aeabi_memclr8() = 0;
}

/// The same for those that copy.
macro_rules! copy {
    ($($name:ident)*) => {$(
        /// # Safety
        ///
        /// As of `memcpy`.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(dest: *mut u8, source: *const u8, count: usize) {
            // SAFETY: the caller's.
            unsafe { __aeabi_memcpy(dest, source, count) }
        }
    )*};
}

copy!(__aeabi_memcpy4 __aeabi_memcpy8);
