//! Both kinds of ids: orders by UIDs of time, which tell nobody how many there are, and invoices by
//! dense numbers, which the tax office wants one after the other.
//!
//! ```sh
//! cargo run --release --example invoices
//! ```

use std::error::Error;

use uidring::UidGenerator;
use uidring::registry::SqliteRegistry;
use uidring::segment::{Segments, SqliteSegments, Tag};

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    // The worker ids and the tags may be in one file, and here they are.
    let file = dir.path().join("uidring.db");
    let uids = UidGenerator::builder().registry(SqliteRegistry::open(&file)?).build()?;
    let segments = Segments::builder().source(SqliteSegments::open(&file)?).build()?;
    let invoices = segments.create("invoices", Tag::new().first(1001).step(100))?;

    for _ in 0..3 {
        println!("order {}, invoice {}", uids.take()?, invoices.take()?);
    }

    // A clean end gives the rest of the segment back, so the next process goes on without a gap.
    drop(invoices);
    segments.shutdown_blocking()?;
    let segments = Segments::builder().source(SqliteSegments::open(&file)?).build()?;
    let next = segments.tag("invoices")?.take()?;
    println!("after a restart: invoice {next}");
    assert_eq!(next.get(), 1004);
    Ok(())
}
