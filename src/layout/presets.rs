//! The layouts that others have, and this library's own.

use super::{FieldOrder, Layout};

impl Layout {
    /// 30 | 20 | 13 in seconds from 2026-01-01T00:00:00Z: until 2060-01-10T13:37:04Z, 1,048,576
    /// workers, 8,192 UIDs per second before a generator borrows from future seconds.
    pub const DEFAULT: Layout = Layout {
        time_bits: 30,
        worker_bits: 20,
        sequence_bits: 13,
        order: FieldOrder::TimeFirst,
        tick_ms: 1000,
        epoch_ms: 1_767_225_600_000,
    };

    /// 28 | 22 | 13 in seconds from 2016-05-19T16:00:00Z, the defaults of Baidu's `UidGenerator`,
    /// for reading its ids. The time field ended at 2024-11-20T13:24:16Z, so no generator can be
    /// built with this layout.
    pub const UID_GENERATOR: Layout = Layout {
        time_bits: 28,
        worker_bits: 22,
        sequence_bits: 13,
        epoch_ms: 1_463_673_600_000,
        ..Layout::DEFAULT
    };

    /// 30 | 16 | 7 in seconds from 2019-02-19T16:00:00Z until 2053-02-28T05:37:04Z: the defaults of
    /// `com.github.wujun234:uid-generator-spring-boot-starter`, the fork of `UidGenerator` that
    /// Maven Central has, where its servers run in China. Its ids are below 2^53.
    ///
    /// ```
    /// # use uidring::Layout;
    /// // Its first UID a day after the epoch, of worker 5.
    /// let parts = Layout::UID_GENERATOR_STARTER.parts("724775731840".parse()?);
    /// assert_eq!((parts.worker, parts.sequence), (5, 0));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const UID_GENERATOR_STARTER: Layout = Layout {
        time_bits: 30,
        worker_bits: 16,
        sequence_bits: 7,
        epoch_ms: 1_550_592_000_000,
        ..Layout::DEFAULT
    };

    /// 41 | 10 | 12 in milliseconds from 2010-11-04T01:42:54.657Z until 2080-07-10T17:30:30.209Z:
    /// Twitter's Snowflake, and the snowflake mode of Leaf.
    ///
    /// ```
    /// # use uidring::Layout;
    /// let parts = Layout::TWITTER.parts("1256557484213448722".parse()?);
    /// assert_eq!((parts.worker, parts.sequence), (619, 18));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const TWITTER: Layout = Layout {
        time_bits: 41,
        worker_bits: 10,
        sequence_bits: 12,
        order: FieldOrder::TimeFirst,
        tick_ms: 1,
        epoch_ms: 1_288_834_974_657,
    };

    /// 41 | 10 | 12 in milliseconds from 2016-11-01T00:00:00Z until 2086-07-08T15:47:35.552Z: the
    /// `SNOWFLAKE` of `ShardingSphere` where its servers run in UTC.
    ///
    /// Elsewhere it counts from midnight in the time zone of the server, with the zone's offset of
    /// the day on which the server started. In China that is 8 hours earlier:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use uidring::Layout;
    /// let utc = Layout::SHARDING_SPHERE;
    /// let layout = utc.with_epoch(utc.epoch() - Duration::from_secs(8 * 3600))?;
    /// # assert_eq!(layout.to_string(), "41 | 10 | 12 in milliseconds from 2016-10-31T16:00:00Z");
    /// # Ok::<(), uidring::LayoutError>(())
    /// ```
    pub const SHARDING_SPHERE: Layout = Layout { epoch_ms: 1_477_958_400_000, ..Layout::TWITTER };

    /// 41 | 10 | 12 in milliseconds from 2020-05-02T16:00:00Z until 2090-01-07T07:47:35.552Z, with
    /// the worker on top: the `IdWorker` of Seata.
    ///
    /// ```
    /// # use uidring::Layout;
    /// // Its first UID at 1,000 ms after the epoch, of worker 1.
    /// let parts = Layout::SEATA.parts("9007199258836993".parse()?);
    /// assert_eq!((parts.worker, parts.sequence), (1, 1));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const SEATA: Layout =
        Layout { order: FieldOrder::WorkerFirst, epoch_ms: 1_588_435_200_000, ..Layout::TWITTER };

    /// 41 | 10 | 12 in milliseconds from 2015-01-01T00:00:00Z until 2084-09-06T15:47:35.552Z:
    /// Discord's ids while they are below 2^63. The worker is Discord's worker and process, of 5
    /// bits each.
    ///
    /// ```
    /// # use uidring::Layout;
    /// // The example of Discord's documentation: worker 1, process 0, increment 7.
    /// let parts = Layout::DISCORD.parts("175928847299117063".parse()?);
    /// assert_eq!((parts.worker, parts.sequence), (1 << 5, 7));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const DISCORD: Layout = Layout { epoch_ms: 1_420_070_400_000, ..Layout::TWITTER };

    /// 40 | 13 | 10 in milliseconds from 2011-08-24T21:07:01.721Z until 2046-06-27T17:00:49.497Z:
    /// Instagram's ids while they are below 2^63. The worker is the logical shard.
    ///
    /// ```
    /// # use uidring::Layout;
    /// // The example of Instagram's engineers: user 31341 of 2,000 shards, number 5001.
    /// let id = 1_387_263_000_u64 << 23 | 31_341 % 2000 << 10 | 5001 % 1024;
    /// let parts = Layout::INSTAGRAM.parts(id.try_into()?);
    /// assert_eq!((parts.worker, parts.sequence), (1341, 905));
    /// # Ok::<(), uidring::UidRangeError>(())
    /// ```
    pub const INSTAGRAM: Layout = Layout {
        time_bits: 40,
        worker_bits: 13,
        sequence_bits: 10,
        epoch_ms: 1_314_220_021_721,
        ..Layout::TWITTER
    };

    /// 41 | 10 | 12 in milliseconds from 2020-01-01T00:00:00Z until 2089-09-06T15:47:35.552Z: the
    /// TSIDs of tsid-creator and of Hypersistence with their 1,024 nodes, while they are below
    /// 2^63. Their text is base32 as ours.
    ///
    /// ```
    /// # use uidring::{Layout, Uid};
    /// // One of tsid-creator's, of April 2020.
    /// let parts = Layout::TSID.parts(Uid::from_base32("01226N0640J7Q")?);
    /// assert_eq!((parts.worker, parts.sequence), (4, 2295));
    /// # Ok::<(), uidring::ParseUidError>(())
    /// ```
    pub const TSID: Layout = Layout { epoch_ms: 1_577_836_800_000, ..Layout::TWITTER };

    /// 31 | 10 | 12 in seconds from 2026-01-01T00:00:00Z until 2094-01-19T03:14:08Z: all UIDs are
    /// below 2^53, so a JavaScript number holds each of them exactly. 1,024 workers, 4,096 UIDs per
    /// second before a generator borrows from future seconds.
    ///
    /// With so few worker ids, use a leased one, as
    /// [`SqliteRegistry::leased`](crate::registry::SqliteRegistry::leased) does: it is given again.
    ///
    /// ```
    /// # use uidring::Layout;
    /// let layout = Layout::JS_SAFE;
    /// let last = layout.compose(layout.max_tick(), layout.max_worker(), layout.max_sequence());
    /// assert_eq!(last.unwrap().get(), (1 << 53) - 1);
    /// ```
    pub const JS_SAFE: Layout =
        Layout { time_bits: 31, worker_bits: 10, sequence_bits: 12, ..Layout::DEFAULT };
}
