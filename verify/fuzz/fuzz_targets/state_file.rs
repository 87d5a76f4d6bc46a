//! The state file beside a fixed worker id. Whatever is in it, a generator begins behind what it
//! says, within its layout; and a write that was cut short leaves what was written before.

#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jiff::Timestamp;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use uidring::Layout;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring_fuzz::{folder, rest, unsigned};

const WORKER: u64 = 7;
const LAYOUT: Layout = Layout::DEFAULT;
const PAGE: usize = 4096;

fuzz_target!(|data: &[u8]| {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let file = FOLDER.get_or_init(folder).join("state");
    let mut input = Unstructured::new(data);
    let _ = match input.int_in_range(0..=2) {
        Ok(0) => anything(&mut input, &file),
        Ok(1) => written(&mut input, &file),
        _ => cut_short(&mut input, &file),
    };
});

/// What a generator is given that starts at the tick `now`.
fn start(file: &Path, now: u64) -> Option<(FixedWorker, Lease)> {
    let mut registry = FixedWorker::new(WORKER).with_state(file);
    let lease = registry.assign(&Request::new(LAYOUT, now, LAYOUT.max_tick())).ok()?;
    assert_eq!(lease.worker, WORKER);
    assert!(now <= lease.first && lease.first <= lease.last && lease.last <= LAYOUT.max_tick());
    Some((registry, lease))
}

/// Whatever the file holds, the start after next begins behind the next one.
fn follow(file: &Path, now: u64) -> Option<Lease> {
    let (registry, lease) = start(file, now)?;
    drop(registry);
    if let Some((_, next)) = start(file, 0) {
        assert!(next.first > lease.last, "{next:?} after {lease:?}");
    }
    Some(lease)
}

fn tick(input: &mut Unstructured<'_>) -> Result<u64> {
    Ok(unsigned(input)?.min(LAYOUT.max_tick()))
}

/// Any bytes, with the lines of a state file before them or not.
fn anything(input: &mut Unstructured<'_>, file: &Path) -> Result<()> {
    let (now, has_lines) = (tick(input)?, input.arbitrary()?);
    let mut text = rest(input);
    if has_lines {
        text.insert_str(0, &owner());
    }
    fs::write(file, text).unwrap();
    let _ = follow(file, now);
    Ok(())
}

fn owner() -> String {
    format!(
        "uidring: ticks used by a fixed worker id, version 2\nworker {WORKER}\nlayout {LAYOUT}\n"
    )
}

/// A page as a generator writes it, with any numbers.
fn page(write: u64, used: u64) -> String {
    let time = LAYOUT.time_of(used.min(LAYOUT.max_tick())).unwrap();
    let time = Timestamp::try_from(time).unwrap();
    let text = format!("{}write {write:020}\nused until {used:020}, {time}\n", owner());
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:<width$}\n", format!("{text}check {hash:016x}"), width = PAGE - 1)
}

/// Two pages with any numbers. The later write counts.
fn written(input: &mut Unstructured<'_>, file: &Path) -> Result<()> {
    let now = tick(input)?;
    let pages = [(unsigned(input)?, unsigned(input)?), (unsigned(input)?, unsigned(input)?)];
    fs::write(file, pages.map(|(write, used)| page(write, used)).concat()).unwrap();
    // Where both have the same number, either counts.
    let used = pages.iter().filter(|page| page.0 == pages[0].0.max(pages[1].0)).map(|page| page.1);
    if let Some(lease) = follow(file, now) {
        assert!(lease.first > used.min().unwrap_or(0), "{lease:?} after {pages:?}");
    }
    Ok(())
}

/// What a crash leaves of a write: any mixture of what was there before and after.
fn cut_short(input: &mut Unstructured<'_>, file: &Path) -> Result<()> {
    let _ = fs::remove_file(file);
    let Some((mut registry, mut lease)) = start(file, tick(input)?) else { return Ok(()) };
    let (mut before, mut used) = (fs::read(file).unwrap(), lease.last);
    for _ in 0..input.int_in_range(1..=4)? {
        let last = tick(input)?.max(lease.last);
        let after;
        if input.ratio(1, 4)? {
            let until = tick(input)?.clamp(lease.first, lease.last);
            registry.release(&lease, until).unwrap();
            after = fs::read(file).unwrap();
            torn(input, file, (&before, &after), used.min(until))?;
            fs::write(file, &after).unwrap();
            match start(file, 0) {
                Some(next) => (registry, lease) = next,
                None => return Ok(()),
            }
            assert!(lease.first > until);
            used = lease.last;
        } else {
            lease.last = registry.reserve(&lease, last).unwrap();
            after = fs::read(file).unwrap();
            torn(input, file, (&before, &after), used)?;
            fs::write(file, &after).unwrap();
            // The lock of the generator is on this file, which stays the same one.
            used = lease.last;
        }
        before = fs::read(file).unwrap();
    }
    Ok(())
}

/// Checks in a copy that nothing is given that was `used` before the write.
fn torn(
    input: &mut Unstructured<'_>,
    file: &Path,
    (before, after): (&[u8], &[u8]),
    used: u64,
) -> Result<()> {
    let copy = file.with_extension("torn");
    let mut text = after.to_vec();
    for _ in 0..input.int_in_range(0..=2)? {
        let from = input.int_in_range(0..=text.len())?;
        let to = input.int_in_range(from..=text.len())?;
        text[from..to].copy_from_slice(&before[from..to]);
    }
    if input.ratio(1, 4)? {
        // Not a crash, but a copy that was cut off. Without a line left, it is a new file.
        text.truncate(input.int_in_range(0..=text.len())?);
        if text.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
    }
    fs::write(&copy, text).unwrap();
    if let Some((_, lease)) = start(&copy, 0) {
        assert!(lease.first > used, "{lease:?} where {used} was used");
    }
    Ok(())
}
