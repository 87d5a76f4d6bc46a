//! Threads that take UIDs, each in its own way.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use shuttle::future::block_on;
use shuttle::thread::JoinHandle;
use uidring::{TakeError, Uid, UidGenerator};
use uidring_shuttle_tests::World;

/// How a thread takes.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Take,
    TryTake,
    /// All at once.
    Fill,
    /// From a local taker, which claims three at a time.
    Local,
    Async,
    /// A task that is dropped if it has to wait.
    Dropped,
}

pub const ALL: [Way; 6] =
    [Way::Take, Way::TryTake, Way::Fill, Way::Local, Way::Async, Way::Dropped];

/// Starts a thread that takes `count` UIDs, and stops if a take fails. It checks that its UIDs are
/// new and ascend, and then calls `check` with each.
pub fn start(
    world: &World,
    uids: &UidGenerator,
    way: Way,
    count: usize,
    mut check: impl FnMut(Uid) + Send + 'static,
) -> JoinHandle<Result<(), TakeError>> {
    let uids = uids.clone();
    world.spawn(move |world| {
        let mut taken = world.history.of(name(way));
        let mut note = |uid: Uid| {
            taken.add(uids.layout().parts(uid).worker, uid);
            check(uid);
        };
        take(&uids, way, count, &mut note)
    })
}

fn take(
    uids: &UidGenerator,
    way: Way,
    count: usize,
    note: &mut dyn FnMut(Uid),
) -> Result<(), TakeError> {
    let mut local = uids.local().with_claim_length(3);
    if let Way::Fill = way {
        let mut buffer = vec![Uid::MIN; count];
        let result = uids.fill(&mut buffer);
        let filled = result.as_ref().map_or_else(|error| error.filled(), |()| count);
        buffer[..filled].iter().for_each(|uid| note(*uid));
        return result.map_err(|error| error.cause());
    }
    for _ in 0..count {
        note(match way {
            Way::Take | Way::Fill => uids.take()?,
            Way::TryTake => uids.try_take()?,
            Way::Local => local.take()?,
            Way::Async => block_on(uids.take_async())?,
            Way::Dropped => match poll_once(uids.take_async()) {
                Some(result) => result?,
                None => continue,
            },
        });
    }
    Ok(())
}

/// The result of `future` if it has one at once. If not, the future is dropped.
pub fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

fn name(way: Way) -> &'static str {
    match way {
        Way::Take => "take",
        Way::TryTake => "try_take",
        Way::Fill => "fill",
        Way::Local => "a local taker",
        Way::Async => "take_async",
        Way::Dropped => "a task that does not wait",
    }
}
