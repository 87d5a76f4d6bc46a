//! A kind of store, and what each one can do.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use super::error::StoreError;
use super::options::{RegistryOptions, Table};
#[cfg(feature = "series")]
use crate::backend::storage_error::StorageError;
#[cfg(all(feature = "_store", feature = "lend"))]
use crate::lend::{LendError, LoanStore};
use crate::registry::{RegistryAdmin, RegistryError};
use crate::segment::{SegmentAdmin, SegmentError, TinyIdToken};
#[cfg(feature = "series")]
use crate::series::SeriesStore;
use crate::sync::Arc;

/// A kind of store, whether it is built in or not.
pub(super) struct Kind {
    /// As people call it.
    pub(super) name: &'static str,
    /// The feature that builds it in.
    pub(super) feature: &'static str,
    /// What its addresses begin with, without `://`.
    pub(super) schemes: &'static [&'static str],
    /// `None` where it is not built in.
    pub(super) open: Option<Open>,
}

/// Opens a store: a file by its path, anything else by its address. Nothing is asked of it yet.
pub(super) type Open = fn(&OsStr) -> Result<Arc<dyn Backend>, StoreError>;

/// A store that was opened. All kinds give the same to programs and operators.
pub(super) trait Backend: Debug + Send + Sync {
    /// The first of the schemes of its kind.
    fn scheme(&self) -> &'static str;

    /// The path, or the address without the password.
    fn name(&self) -> String;

    /// The path of a store that is a file.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The same file, also where it is on a network file system. `None` for anything else.
    fn on_network(&self) -> Option<Arc<dyn Backend>> {
        None
    }

    /// Goes by another address of the same store from now on.
    fn renew(&self, address: &OsStr) -> Result<(), StoreError>;

    /// The same store for a trial, where opening it for one is something else.
    fn for_trial(&self) -> Option<Arc<dyn Backend>> {
        None
    }

    /// Worker ids, given as the `options` say.
    fn registry(
        &self,
        options: &RegistryOptions,
        calls: Calls,
    ) -> Result<Box<dyn AnyRegistry>, RegistryError>;

    /// Numbers from a table.
    fn segments(&self, table: Table, calls: Calls) -> Result<Arc<dyn SegmentAdmin>, SegmentError>;

    /// Pools of worker ids that are lent.
    #[cfg(all(feature = "_store", feature = "lend"))]
    fn loans(&self, calls: Calls) -> Result<Arc<dyn LoanStore>, LendError>;

    /// Series, where the kind of store has them.
    #[cfg(feature = "series")]
    fn series(&self, calls: Calls) -> Result<Arc<dyn SeriesStore>, StorageError>;

    /// The tokens of tinyid's clients.
    fn tinyid_tokens(&self, calls: Calls) -> Result<Vec<TinyIdToken>, SegmentError>;

    /// The servers of ZooKeeper, if it is one.
    #[cfg(feature = "zookeeper")]
    fn zookeeper(&self) -> Option<&crate::backend::keys::ZooKeeper> {
        None
    }
}

/// A registry of any kind, which can be cloned.
pub(super) trait AnyRegistry: RegistryAdmin + Sync {
    fn clone_box(&self) -> Box<dyn AnyRegistry>;
}

impl<R: RegistryAdmin + Sync + Clone> AnyRegistry for R {
    fn clone_box(&self) -> Box<dyn AnyRegistry> {
        Box::new(self.clone())
    }
}

/// What holds for all calls to a store.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(any(feature = "mysql", feature = "postgres", feature = "sqlite")), allow(dead_code))]
pub(super) struct Calls {
    /// How long each may take; `None` where the kind decides.
    pub(super) timeout: Option<Duration>,
    /// Whether a file that is missing is made, or tables that are.
    pub(super) may_create: bool,
}
