//! The other crates, with layouts as equal as theirs can be made: 38 bits of milliseconds since
//! 2026, 3 bits of worker, 22 bits of sequence, so that up to 4,194,304 ids a millisecond no row
//! waits for its clock. A crate that cannot have that layout names the rule that holds it back.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use ferroid::generator::{
    AtomicSnowflakeGenerator, BasicSnowflakeGenerator, LockSnowflakeGenerator,
};
use ferroid::time::MonotonicClock;
use idgenerator::{IdGeneratorOptions, IdVecInstance};
use snowflake::{SnowflakeIdBucket, SnowflakeIdGenerator};
use snowflake_me::SnowflakeId as MeId;

use crate::row::{BATCH, Batches, Each, Row, Worker, shared};

pub const TIME_BITS: u32 = 38;
pub const WORKER_BITS: u32 = 3;
pub const SEQUENCE_BITS: u32 = 22;
/// 2026-01-01T00:00:00Z in milliseconds since 1970.
const EPOCH_MS: u64 = 1_767_225_600_000;
const WORKERS: usize = 1 << WORKER_BITS;

const SMALL_SEQUENCE: Option<&str> = Some("at most 4,096 a ms");

// Its own benchmarks use a layout with a time field of no bits, in which the clock never decides
// anything.
ferroid::define_snowflake_id!(
    /// The layout of all rows.
    Equal, u64,
    reserved: 1,
    timestamp: 38,
    machine_id: 3,
    sequence: 22
);

struct Snowdon;

impl snowdon::Layout for Snowdon {
    fn construct_snowflake(timestamp: u64, sequence_number: u64) -> u64 {
        assert!(
            !Self::exceeds_timestamp(timestamp) && !Self::exceeds_sequence_number(sequence_number)
        );
        timestamp << (WORKER_BITS + SEQUENCE_BITS) | 1 << SEQUENCE_BITS | sequence_number
    }

    fn timestamp(input: u64) -> u64 {
        input >> (WORKER_BITS + SEQUENCE_BITS)
    }

    fn exceeds_timestamp(input: u64) -> bool {
        input >= 1 << TIME_BITS
    }

    fn sequence_number(input: u64) -> u64 {
        input & ((1 << SEQUENCE_BITS) - 1)
    }

    fn exceeds_sequence_number(input: u64) -> bool {
        input >= 1 << SEQUENCE_BITS
    }

    fn is_valid_snowflake(input: u64) -> bool {
        input >> 63 == 0
    }
}

impl snowdon::Epoch for Snowdon {
    fn millis_since_unix() -> u64 {
        EPOCH_MS
    }
}

/// A row where each of `threads` threads has a generator of its own; `None` if there are more
/// threads than workers.
fn own<W: Worker + 'static>(
    threads: usize,
    name: &'static str,
    limit: &'static str,
    worker: fn(usize) -> W,
) -> Row {
    let worker =
        move |thread| (threads <= WORKERS).then(|| Box::new(worker(thread)) as Box<dyn Worker>);
    Row { name, limit, throttled: None, worker: Box::new(worker) }
}

fn throttled(row: Row, rule: Option<&'static str>) -> Row {
    Row { throttled: rule, ..row }
}

pub fn rows(
    threads: usize,
    each: &'static str,
    local: &'static str,
    batch: &'static str,
) -> Vec<Row> {
    let mut rows = Vec::from(ferroid_rows(threads, each, local));
    rows.extend(snowid_rows(each, batch));
    rows.extend(snowflake_me_rows(each, batch));
    rows.push(shared(
        "snowdon",
        each,
        Arc::new(snowdon::Generator::<Snowdon, Snowdon>::default()),
        |generator| {
            let generator = Arc::clone(generator);
            Each(move || {
                loop {
                    // It fails if the clock seems to go back, for example because another thread
                    // has seen a later millisecond.
                    if let Ok(id) = generator.generate() {
                        return id.into_inner();
                    }
                }
            })
        },
    ));
    rows.push(idgenerator_row(each));
    rows.push(throttled(
        shared("snowflaked", each, Arc::new(snowflaked::sync::Generator::new(1)), |generator| {
            let generator = Arc::clone(generator);
            Each(move || generator.generate::<u64>())
        }),
        SMALL_SEQUENCE,
    ));
    rows.extend(rs_snowflake_rows(threads, each, local));
    let sonyflake = sonyflake::Sonyflake::builder().machine_id(&|| Ok(1)).finalize().unwrap();
    rows.push(throttled(
        shared("sonyflake", each, sonyflake, |generator| {
            let generator = generator.clone();
            Each(move || generator.next_id().unwrap().to_u64())
        }),
        Some("at most 256 in 10 ms"),
    ));
    rows.push(shared("uuid v4", each, (), |()| Each(|| uuid::Uuid::new_v4().as_u128())));
    rows.push(shared("uuid v7", each, (), |()| Each(|| uuid::Uuid::now_v7().as_u128())));
    rows.push(shared("ulid", each, (), |()| Each(|| u128::from(ulid::Ulid::generate()))));
    rows.push(shared("scru128", each, (), |()| Each(|| scru128::new().to_u128())));
    rows
}

fn ferroid_rows(threads: usize, each: &'static str, local: &'static str) -> [Row; 3] {
    fn clock() -> MonotonicClock {
        MonotonicClock::with_epoch(Duration::from_millis(EPOCH_MS))
    }
    let atomic = shared(
        "ferroid, atomic",
        each,
        Arc::new(AtomicSnowflakeGenerator::<Equal, _>::new(1, clock())),
        |generator| {
            let generator = Arc::clone(generator);
            Each(move || generator.next_id(|_| std::hint::spin_loop()).to_raw())
        },
    );
    let lock = shared(
        "ferroid, lock",
        each,
        Arc::new(LockSnowflakeGenerator::<Equal, _>::new(1, clock())),
        |generator| {
            let generator = Arc::clone(generator);
            Each(move || generator.try_next_id(|_| std::hint::spin_loop()).unwrap().to_raw())
        },
    );
    let basic = own(threads, "ferroid, basic", local, |thread| {
        let generator = BasicSnowflakeGenerator::<Equal, _>::new(thread as u64, clock());
        Each(move || generator.next_id(|_| std::hint::spin_loop()).to_raw())
    });
    [atomic, lock, basic]
}

/// The sequence has 16 bits at most; past them it borrows from the milliseconds to come, as uidring
/// does.
fn snowid_rows(each: &'static str, batch: &'static str) -> [Row; 2] {
    fn generator() -> Arc<snowid::SnowID> {
        let config = snowid::SnowIDConfig::builder().node_bits(6).unwrap().epoch(EPOCH_MS).build();
        Arc::new(snowid::SnowID::with_config(1, config).unwrap())
    }
    let one = shared("snowid", each, generator(), |generator| {
        let generator = Arc::clone(generator);
        Each(move || generator.generate())
    });
    let many = shared("snowid, 1,024 at once", batch, generator(), |generator| {
        let generator = Arc::clone(generator);
        let fill = move |buffer: &mut Vec<u64>| generator.generate_batch(buffer);
        Batches { buffer: vec![0; BATCH as usize], fill, read: Vec::clone }
    });
    [one, many]
}

fn snowflake_me_rows(each: &'static str, batch: &'static str) -> [Row; 2] {
    fn generator() -> snowflake_me::Snowflake {
        snowflake_me::Snowflake::builder()
            .start_time(EPOCH_MS.cast_signed())
            .bit_len_time(38)
            .bit_len_data_center_id(1)
            .bit_len_machine_id(2)
            .bit_len_sequence(22)
            .data_center_id(&|| Ok(0))
            .machine_id(&|| Ok(1))
            .finalize()
            .unwrap()
    }
    let one = shared("snowflake_me", each, generator(), |generator| {
        let generator = snowflake_me::Snowflake::clone(generator);
        Each(move || generator.next_id().unwrap().as_u64())
    });
    let many = shared("snowflake_me, 1,024 at once", batch, generator(), |generator| {
        let generator = snowflake_me::Snowflake::clone(generator);
        let fill = move |buffer: &mut Vec<MeId>| {
            buffer.clear();
            generator.next_ids_into(BATCH as usize, buffer).unwrap();
        };
        let read = |buffer: &Vec<MeId>| buffer.iter().map(MeId::as_u64).collect();
        Batches { buffer: Vec::with_capacity(BATCH as usize), fill, read }
    });
    [one, many]
}

/// The worker has one bit, because the sequence has at most 21. The generator sleeps for half a
/// second when it is made, so it is made once.
fn idgenerator_row(each: &'static str) -> Row {
    static MADE: OnceLock<()> = OnceLock::new();
    MADE.get_or_init(|| {
        let options = IdGeneratorOptions::new()
            .base_time(EPOCH_MS.cast_signed())
            .worker_id(1)
            .worker_id_bit_len(1);
        IdVecInstance::init(vec![options.seq_bit_len(21)]).unwrap();
    });
    shared("idgenerator", each, (), |()| Each(|| IdVecInstance::next_id(0).cast_unsigned()))
}

/// Its generators are for one thread, so the threads share one behind a lock.
fn rs_snowflake_rows(threads: usize, each: &'static str, local: &'static str) -> [Row; 3] {
    fn epoch() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(EPOCH_MS)
    }
    let generator = || Arc::new(Mutex::new(SnowflakeIdGenerator::with_epoch(1, 1, epoch())));
    let real_time = shared("rs-snowflake, locked", each, generator(), |generator| {
        let generator = Arc::clone(generator);
        Each(move || generator.lock().unwrap().real_time_generate().cast_unsigned())
    });
    // This generator reads the clock once, when it is made.
    let lazy = own(threads, "rs-snowflake, lazy", local, |thread| {
        let mut generator =
            SnowflakeIdGenerator::with_epoch(1, i32::try_from(thread).unwrap(), epoch());
        Each(move || generator.lazy_generate().cast_unsigned())
    });
    let bucket = own(threads, "rs-snowflake, bucket", local, |thread| {
        let mut generator =
            SnowflakeIdBucket::with_epoch(1, i32::try_from(thread).unwrap(), epoch());
        Each(move || generator.get_id().cast_unsigned())
    });
    [throttled(real_time, SMALL_SEQUENCE), lazy, bucket]
}
