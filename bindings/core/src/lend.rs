//! [`LentId`], a worker id that is lent to a generator of another's.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use uidring::lend::LentWorker;

pub use uidring::lend::Loss;

use crate::error::Error;
use crate::options::{self, LoanOptions};
use crate::status;
use crate::store::{Close, OpenFile, open_store};

/// A worker id of a pool, until it is closed. Clones are handles of the same.
#[derive(Clone, Debug)]
pub struct LentId {
    /// Read without a lock, which a fork could leave locked.
    worker: Arc<ArcSwapOption<LentWorker>>,
    file: OpenFile,
}

/// How the error begins after a close.
const WORKER_WAS: &str = "the worker id was";

impl LentId {
    /// Lends an id of the pool `pool`, whose ids have so many `bits`, of the store at `address`.
    /// `on_loss` is called once, on a thread of the library, when the id is about to be lost.
    ///
    /// # Errors
    /// The options are wrong, no id may be lent now, or the store cannot be used.
    pub fn lend(
        address: &str,
        pool: &str,
        bits: u32,
        options: &[(&str, &str)],
        on_loss: impl Fn(&Loss) + Send + Sync + 'static,
    ) -> Result<LentId, Error> {
        let options: LoanOptions = options::parse(options)?;
        let (store, file) = open_store(address, &options.login, options.timeout)?;
        let wanted = options.loan.options().on_loss(on_loss);
        let worker = store.worker_pool(pool, bits)?.lend(wanted)?;
        Ok(LentId { worker: Arc::new(ArcSwapOption::from_pointee(worker)), file })
    }

    /// The id: 1 to 2^bits - 1.
    ///
    /// # Errors
    /// It was closed.
    pub fn id(&self) -> Result<u64, Error> {
        self.with(LentWorker::id)
    }

    /// Whether ids may be made with it now. In a forked process, not.
    ///
    /// # Errors
    /// It was closed.
    pub fn is_held(&self) -> Result<bool, Error> {
        self.with(LentWorker::is_held)
    }

    /// The state, as a JSON object.
    ///
    /// # Errors
    /// It was closed.
    pub fn status(&self) -> Result<String, Error> {
        self.with(|worker| status::lent(&worker.status()))
    }

    fn with<T>(&self, call: impl FnOnce(&LentWorker) -> T) -> Result<T, Error> {
        self.worker.load().as_deref().map(call).ok_or_else(|| Error::closed(WORKER_WAS))
    }
}

impl Close for LentId {
    fn close(&self) -> Result<(), Error> {
        let Some(mut worker) = self.worker.swap(None) else { return Ok(()) };
        // Others look at it for a moment at most. In a forked process they may do so for ever.
        for _ in 0..1000 {
            match Arc::try_unwrap(worker) {
                Ok(worker) => {
                    let closed = worker.close();
                    self.file.close();
                    return Ok(closed?);
                }
                Err(still) => worker = still,
            }
            thread::sleep(Duration::from_millis(1));
        }
        // The last one that looks at it returns the id.
        self.file.close();
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn an_id_is_lent_until_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let lend = |bits, options: &[(&str, &str)]| {
            LentId::lend(file.to_str().unwrap(), "shop", bits, options, |_| ())
        };
        let worker = lend(1, &[("lease", "1m"), ("host", "orders-3")]).unwrap();
        assert_eq!((worker.id(), worker.is_held()), (Ok(1), Ok(true)));
        assert!(worker.status().unwrap().contains(r#""state":"held""#));
        let full = lend(1, &[]).unwrap_err();
        assert_eq!(full.kind, Kind::Unavailable, "{full}");
        let other = lend(2, &[]).unwrap_err();
        assert_eq!(other.kind, Kind::InvalidArgument, "{other}");
        assert_eq!(lend(1, &[("lease", "1ms")]).unwrap_err().kind, Kind::InvalidArgument);
        worker.close().unwrap();
        worker.clone().close().unwrap();
        assert_eq!(worker.id().unwrap_err().kind, Kind::Closed);
        assert_eq!(worker.is_held(), Err(Error::closed(WORKER_WAS)));
    }
}
