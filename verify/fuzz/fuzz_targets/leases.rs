//! Rows of a registry as a database may answer them, with any values. Worker ids are those of the
//! layout and of the options, and no tick of one is given twice.

#![no_main]

use std::ops::RangeInclusive;
use std::time::Duration;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use uidring::registry::{Lease, LeaseKind, RegistryAdmin, Request, WorkerRegistry};
use uidring::{Layout, RegistryOptions, Store};
use uidring_fuzz::{File, number, unsigned};

thread_local! {
    static FILE: File = File::new(|store| drop(store.registry().unwrap()));
}

fuzz_target!(|data: &[u8]| {
    FILE.with(|file| {
        let _ = check(file, &mut Unstructured::new(data));
    });
});

fn check(file: &File, input: &mut Unstructured<'_>) -> Result<()> {
    write(&file.db, input)?;
    let layout = *input.choose(&[Layout::DEFAULT, Layout::TWITTER, Layout::JS_SAFE])?;
    let most = layout.max_worker();
    let (options, ids) = options(input, most)?;
    let Ok(mut registry) = Store::open(&file.path).unwrap().registry_with(options) else {
        return Ok(());
    };
    let _ = (registry.workers(), registry.ids(), registry.last_assigned());
    if let Ok(Some(found)) = registry.layout() {
        assert!(found.max_worker() > 0);
    }
    let mut given: Vec<(u64, RangeInclusive<u64>)> = Vec::new();
    for _ in 0..input.int_in_range(1..=4)? {
        let now = unsigned(input)?.min(layout.max_tick());
        let latest = now.saturating_add(unsigned(input)?).min(layout.max_tick());
        let before = largest(&file.db);
        let Ok(lease) = registry.assign(&Request::new(layout, now, latest)) else { continue };
        let row = format!("{lease:?} of {layout}, now {now}");
        assert!(ids.contains(&lease.worker) && lease.worker <= most, "{row}");
        assert!(lease.first <= lease.last && lease.last <= layout.max_tick(), "{row}");
        let mut held = lease.first..=lease.last;
        if let LeaseKind::Leased { .. } = lease.kind {
            assert!(lease.first >= now && lease.first <= latest, "{row}, latest {latest}");
            held = used(&mut registry, &lease, &layout, input)?;
        } else if let Some(before) = before {
            assert!(i128::from(lease.worker) > before, "{row}: {before} was given");
        }
        for (worker, ticks) in &given {
            let overlap = held.start() <= ticks.end() && ticks.start() <= held.end();
            assert!(*worker != lease.worker || !overlap, "{row} after {ticks:?}");
        }
        given.push((lease.worker, held));
    }
    Ok(())
}

/// How ids are given, and which.
fn options(
    input: &mut Unstructured<'_>,
    most: u64,
) -> Result<(RegistryOptions, RangeInclusive<u64>)> {
    let mut options = RegistryOptions::new();
    let mut ids = 1..=most;
    if input.arbitrary()? {
        options = options.leased(Duration::from_secs(unsigned(input)?));
    }
    if input.ratio(1, 4)? {
        let (first, last) = (unsigned(input)?, unsigned(input)?.min(most));
        options = options.worker_ids(first..=last);
        ids = first.max(1)..=last;
    }
    if input.ratio(1, 4)? {
        let (index, of) = (unsigned(input)?, unsigned(input)?);
        options = options.partition(index, of);
        let size = (most + 1) / of.max(1);
        let first = index.saturating_mul(size);
        ids = (*ids.start()).max(first)
            ..=(*ids.end()).min(first.saturating_add(size).saturating_sub(1));
    }
    Ok((options, ids))
}

/// Uses the lease for a while, and returns the ticks that nobody else may have.
fn used(
    registry: &mut impl WorkerRegistry,
    lease: &Lease,
    layout: &Layout,
    input: &mut Unstructured<'_>,
) -> Result<RangeInclusive<u64>> {
    let mut last = lease.last;
    if input.arbitrary()? {
        let wished = lease.last.saturating_add(unsigned(input)?).min(layout.max_tick());
        if let Ok(reserved) = registry.reserve(lease, wished) {
            assert!(reserved >= wished && reserved <= layout.max_tick());
            last = reserved;
        }
    }
    if input.arbitrary()? {
        let used = unsigned(input)?.clamp(lease.first, last);
        if registry.release(lease, used).is_ok() {
            last = used;
        }
    }
    Ok(lease.first..=last)
}

/// The largest id that the tables know, if it is a number.
fn largest(db: &Connection) -> Option<i128> {
    let sql = "SELECT MAX(COALESCE((SELECT MAX(id) FROM worker_node), 0), \
               COALESCE((SELECT MAX(seq) FROM sqlite_sequence WHERE name = 'worker_node'), 0))";
    db.query_row(sql, [], |row| row.get::<_, i64>(0)).ok().map(i128::from)
}

fn value(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=15)? {
        0 | 1 => Value::Null,
        2 => Value::Text(number(input)?.to_string()),
        3 => Value::Real(input.arbitrary()?),
        _ => Value::Integer(number(input)?),
    })
}

/// Puts rows into the tables, as others may have left them.
fn write(db: &Connection, input: &mut Unstructured<'_>) -> Result<()> {
    let all = "DELETE FROM worker_node; DELETE FROM uidring_layout; DELETE FROM sqlite_sequence";
    db.execute_batch(all).unwrap();
    for _ in 0..input.int_in_range(0..=2)? {
        let id = number(input)?;
        let sql = "INSERT OR IGNORE INTO worker_node (id, host_name, port, type, launch_date, \
                   modified, created, holder, reserved_until, lease_until) \
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut next = || value(input);
        let row =
            params![id, "host", "1", next()?, next()?, next()?, next()?, next()?, next()?, next()?];
        db.execute(sql, row).unwrap();
    }
    if input.ratio(1, 4)? {
        let seq = value(input)?;
        db.execute("DELETE FROM sqlite_sequence", []).unwrap();
        let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ('worker_node', ?)";
        db.execute(sql, [seq]).unwrap();
    }
    if input.ratio(1, 3)? {
        let sql = "INSERT OR IGNORE INTO uidring_layout VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut next = || value(input);
        let row = if next()? == Value::Null {
            let (from, to) = (next()?, next()?);
            db.execute(sql, params![1, 30, 20, 13, 0, 1000, 1_767_225_600_000_i64, from, to])
        } else {
            let row = params![
                next()?,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?,
                next()?
            ];
            db.execute(sql, row)
        };
        // An id that is no number.
        let _ = row;
    }
    Ok(())
}
