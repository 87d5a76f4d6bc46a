//! How a build waits for its registry, and for a clock that is yet to be set.

use std::time::{Duration, SystemTime};

use crate::clock::{Clock, Stopwatch};
use crate::engine::events;
use crate::generator::BuildError;
use crate::layout::{Layout, is_far};
use crate::registry::{RegistryError, WorkerRegistry};
use crate::sync::sleep;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often a clock that is yet to be set is read.
const CLOCK_PAUSE: Duration = Duration::from_millis(100);

/// How long a build waits for its registry, and for a clock that is yet to be set.
pub struct Patience {
    pub deadline: Duration,
    pub since: Stopwatch,
}

impl Patience {
    /// `layout`, or the one that the registry remembers if it `is_asked` and does.
    pub fn layout(
        &self,
        registry: &mut dyn WorkerRegistry,
        is_asked: bool,
        layout: Layout,
    ) -> Result<Layout, BuildError> {
        if !is_asked {
            return Ok(layout);
        }
        Ok(self.retry(|| Ok(registry.remembered_layout()?))?.unwrap_or(layout))
    }

    /// Repeats `attempt` until it succeeds or fails for a reason that stays, or `deadline` has
    /// passed.
    pub fn retry<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let &Patience { deadline, ref since } = self;
        let mut longest_pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            tries += 1;
            let last = match attempt() {
                Err(error) if may_pass(&error) => error,
                result => return result,
            };
            let left = deadline.saturating_sub(since.elapsed());
            let pause = match last {
                BuildError::Registry(RegistryError::UsedAhead { wait, .. }) if wait <= left => wait,
                BuildError::Registry(last) if left.is_zero() || is_early(&last) => {
                    return Err(if tries == 1 {
                        last.into()
                    } else {
                        BuildError::StartDeadline { deadline, tries, last }
                    });
                }
                last if left.is_zero() => return Err(last),
                BuildError::BeforeEpoch { epoch, now } => {
                    if tries == 1 {
                        events::waits_for_clock(epoch, now, left);
                    }
                    CLOCK_PAUSE.min(left)
                }
                _ => longest_pause.mul_f64(fastrand::f64()).min(left),
            };
            sleep(pause);
            longest_pause = (longest_pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Whether the next try may succeed: the registry may answer, and somebody may set the clock.
fn may_pass(error: &BuildError) -> bool {
    match error {
        BuildError::Registry(error) => error.is_transient() || is_early(error),
        BuildError::BeforeEpoch { .. } => true,
        _ => false,
    }
}

/// Whether waiting for the clock is enough to resolve `error`.
fn is_early(error: &RegistryError) -> bool {
    matches!(error, RegistryError::UsedAhead { .. })
}

/// Fails if the clock is too far ahead of the last start.
pub fn check_jump(
    registry: &mut dyn WorkerRegistry,
    now: SystemTime,
    max_forward_jump: Duration,
) -> Result<(), BuildError> {
    match registry.last_assigned()? {
        Some(last) if now.duration_since(last).is_ok_and(|jump| jump > max_forward_jump) => {
            Err(BuildError::ForwardJump { now, last, max_forward_jump })
        }
        _ => Ok(()),
    }
}

/// Fails if the layout does not contain the clock's tick.
pub fn check_time(layout: &Layout, clock: &dyn Clock) -> Result<(), BuildError> {
    let now = clock.now();
    if is_far(now) {
        return Err(BuildError::FarClock { now });
    }
    match u64::try_from(layout.signed_tick_at(now)) {
        Err(_) => Err(BuildError::BeforeEpoch { epoch: layout.epoch(), now }),
        Ok(tick) if tick > layout.final_tick() => {
            Err(BuildError::TimeExhausted { expires_at: layout.expires_at() })
        }
        Ok(_) => Ok(()),
    }
}
