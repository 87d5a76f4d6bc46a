//! How operators are told of a change, with the `tracing` feature.

/// Emits an event. Programs recognize it by its name. The message is for people.
///
/// A subscriber is foreign code, and may panic where it cannot write to stderr. Whoever emits an
/// event has more to do behind it, and would otherwise begin again and come to the same panic.
macro_rules! event {
    ($level:ident, $name:literal, $($rest:tt)+) => {
        #[cfg(feature = "tracing")]
        {
            let emit = || tracing::$level!(name: $name, target: "uidring", $($rest)+);
            $crate::foreign::caught(emit);
        }
    };
}
pub(crate) use event;
