//! Both kinds of ids: orders have time-ordered ids, which do not reveal the volume, and customers
//! have dense numbers, which people can read out on the telephone.
//!
//! ```sh
//! cargo run --release --example customers
//! ```

use std::error::Error;

use uidring::segment::{Segments, Tag};
use uidring::{Store, UidGenerator};

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    // The worker ids and the tags may be in one file, and here they are.
    let store = Store::open(dir.path().join("uidring.db"))?;
    let uids = UidGenerator::builder().registry(store.registry()?).build()?;
    let segments = Segments::builder().source(store.segments()?).build()?;
    let customers = segments.create("customers", Tag::new().first(1001).step(100))?;

    for _ in 0..3 {
        println!("order {} of customer {}", uids.take()?, customers.take()?);
    }

    // A clean end gives the rest of the segment back, so the next process goes on from there. After
    // a kill it would go on from 1101, and the numbers between would be missing for good.
    drop(customers);
    segments.shutdown()?;
    let segments = Segments::builder().source(store.segments()?).build()?;
    let next = segments.tag("customers")?.take()?;
    println!("after a restart: customer {next}");
    assert_eq!(next.get(), 1004);
    Ok(())
}
