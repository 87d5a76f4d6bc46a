//! Taking ids under load: the threads that take, the lines they write, and the view of them.

pub(crate) mod lines;
pub(crate) mod live;
pub(crate) mod load;
pub(crate) mod progress;
pub(crate) mod stream;
