//! UIDs in five lines. Run it several times: each run gets a worker id of its own.
//!
//! ```sh
//! cargo run --release --example quick_start
//! ```

use std::error::Error;

use uidring::{Store, Uid, UidGenerator};

fn main() -> Result<(), Box<dyn Error>> {
    // The file is created if there is none. Each start inserts a row and uses its key as worker id.
    // An absolute path, because whoever starts in another folder would make another one.
    let store = Store::open(std::path::absolute("uidring.db")?)?;
    let uids = UidGenerator::builder().registry(store.registry()?).build()?;

    // One UID, from any thread.
    let uid = uids.take()?;
    let parts = uids.layout().parts(uid);
    let time = jiff::Timestamp::try_from(parts.time)?;
    println!("{uid} is number {} of worker {} in the second {time}", parts.sequence, parts.worker);

    // Many at once.
    let mut batch = [Uid::MIN; 1000];
    uids.fill(&mut batch)?;
    println!("1000 more, from {} to {}", batch[0], batch[999]);

    // A thread's own taker claims many at once, so most takes write to no shared memory.
    let mut mine = uids.local();
    println!(
        "from a thread's own taker: {}, and in 13 characters: {}",
        mine.take()?,
        mine.take()?.base32()
    );

    println!("\n{}", uids.status());
    Ok(())
}
