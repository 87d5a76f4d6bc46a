//! [`Kind`]: which of the two kinds of generator an engine is.

use crate::engine::ahead::Ahead;
use crate::engine::exact::Exact;

/// A kind of generator.
#[derive(Debug)]
pub enum Kind {
    Ahead(Ahead),
    Exact(Exact),
}

/// Calls a method of [`Timing`](crate::engine::timing::Timing) on the engine's kind.
macro_rules! by_kind {
    ($engine:expr, $method:ident $(, $argument:expr)*) => {
        match &$engine.kind {
            $crate::engine::kind::Kind::Ahead(ahead) => ahead.$method($engine $(, $argument)*),
            $crate::engine::kind::Kind::Exact(exact) => exact.$method($engine $(, $argument)*),
        }
    };
}
pub(crate) use by_kind;
