//! Redis and Valkey.
//!
//! # Addresses
//!
//! `redis://user:password@host:6379/0/folder`, or `rediss://…?ca=…&cert=…&key=…` for TLS. The port
//! is 6379, the database 0 and the folder `uidring` unless they are named; exactly one server is.
//! `ca` is a file with the certificates of the authorities that are trusted, and no others are;
//! without it, they are those of Mozilla's list. `cert` and `key` are files with the client's own
//! certificate and key. All three are PEM. `passfile` is the file with
//! [the password](super#passwords).
//!
//! # What is promised, and what it rests on
//!
//! A commit is one Lua script, and Redis runs one at a time. With `appendfsync always`, it syncs
//! its append-only file before it sends the answers of a round of its loop. So what was answered is
//! on the disk, and so is all that was read. With `appendfsync everysec`, `WAITAOF` tells when it
//! is, which needs Redis or Valkey 7.2, or Redis from 7.4.3 on. Each call waits for that once, up
//! to a second: a generator starts after one, the service after two, and a segment takes one. That
//! is before its numbers are needed, so takes do not wait for it, unless demand jumps. A server
//! that may do without is refused.
//!
//! A server can be told at any time to do without. A restart does not go unnoticed, as it ends the
//! connection, which was made to the server that was looked at. For `CONFIG SET`, the server is
//! looked at again in the transaction that runs the script, and what it says then is from the same
//! round of its loop as the write. If it no longer keeps what it confirms, the outcome counts as
//! unknown. Where `WAITAOF` is right, it closes the rest of the round after that. Elsewhere, a
//! `CONFIG SET` of others in just that round stays unnoticed, and loses the write only if the
//! server or its machine fails within the same second.
//!
//! # Which servers are refused
//!
//! Redis before 7.0: with `appendfsync always`, too, it may answer before it has synced, where it
//! has several threads, clients that wait or slow scripts, and some versions go on after a sync
//! that has failed. Redis 7.0.0 to 7.0.2: they rename files and do not sync the folder, so that a
//! power failure after a rewrite may bring back the old append-only file.
//!
//! With `appendfsync everysec`, Redis 7.4.0 to 7.4.2 and Valkey from 8.0 on: their `WAITAOF` says
//! up to a second too early that a write is on the disk. With `appendfsync always` they are fine.
//!
//! A failover to a replica forgets what the replica had not got yet, and `WAIT` does not change
//! that: a replica that was away can be promoted as well. So a master with replicas is refused,
//! unless the address says by `replicas=never-promoted` that none of them ever takes its place; a
//! Cluster and a Sentinel are refused, and a server that a Sentinel watches. A Sentinel is seen as
//! it subscribes to a channel of the server; one that is away for the moment is not. A replica that
//! was promoted is refused as well, as it lacks what its master had not sent: see
//! [what to do](#what-a-backup-does-to-ids). It shows until it starts again, or has had no replica
//! for the time `repl-backlog-ttl`, an hour unless set.
//!
//! Without eviction, `maxmemory` only fails writes. With it, any policy but `noeviction` is
//! refused, though those of the kind `volatile` throw away no key of this library's, which never
//! expire: a server may be told another policy at any time.
//!
//! A server whose `CONFIG` cannot be called is refused, as that of most that are run for others:
//! nobody could tell whether it syncs. So are servers that speak as Redis does and keep what they
//! confirm in another way, or not at all, by what they say of themselves: Dragonfly, `KeyDB`,
//! Garnet, Kvrocks, Pika, Amazon `ElastiCache` and `MemoryDB`, and Upstash.
//!
//! While the append-only file is written for the first time after it was switched on, nothing is
//! kept. From version 7.2 on, `WAITAOF` waits for the end of that. Before, a server says the same
//! of each later rewrite, so that calls fail until it is over, as those to a server that is down
//! do.
//!
//! # How to set one up
//!
//! ```text
//! # redis.conf
//! appendonly yes
//! appendfsync always
//! no-appendfsync-on-rewrite no
//! maxmemory-policy noeviction
//! # What follows is one line. From version 7.2 on, it ends with +waitaof, which 7.0 does not know.
//! user ids on >SECRET ~uidring/* +select +info +config|get +pubsub|numsub +multi +exec +eval +get
//!     +mget +set +del +sadd +srem +smembers +scard +time
//! ```
//!
//! On a server that has data already, `CONFIG SET appendonly yes` comes first, and then `CONFIG
//! REWRITE`: one that is started with `appendonly yes` and without the file begins empty.
//!
//! # What a backup does to ids
//!
//! A copy of the files holds what was given when it was made. A server that goes on from it gives
//! again what was given since. Processes that run notice it by the key `store` only if that is gone
//! or another one. Otherwise each notices that the copy lacks what it was given itself: a worker
//! id, ticks that it has reserved, numbers of a tag, or a tag that was created again. What others
//! were given it does not know. So after a copy was restored, raise the tags above all numbers that
//! were given, and start with worker ids that were never used, before any program starts. A replica
//! that was promoted is such a copy. Where all programs had ended and the replica had everything,
//! as in a move to another machine, nothing has to be raised. Either way, restart it: that it was
//! promoted is forgotten then.
//!
//! # What was tried, and what nobody can see
//!
//! This was tried with Redis 7.0.15 and 8.0.6, and with Valkey 9.1.2. What is said of other
//! versions, and of other servers, rests on their manuals, change logs and sources. Nobody can see
//! from here whether the disk keeps what it has synced; whether the files are on a disk at all;
//! whether somebody other than a Sentinel will put a replica in the master's place; and whether the
//! files are an old copy.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    name: "Redis",
    feature: "redis",
    schemes: &["redis", "rediss"],
    #[cfg(feature = "redis")]
    open: Some(|address| {
        super::key_server::open(
            address,
            KIND.schemes[0],
            crate::backend::keys::Redis::at,
            |store| Some(cosid(store)),
        )
    }),
    #[cfg(not(feature = "redis"))]
    open: None,
};

/// The counters of `CosId` on the server. All sources know of the tags that one has created.
#[cfg(feature = "redis")]
fn cosid(store: &crate::backend::keys::Redis) -> super::key_server::CosId {
    use crate::segment::CosIdSegments;
    use crate::sync::Arc;

    let source = CosIdSegments::on(store.clone());
    super::key_server::CosId(Box::new(move |calls| {
        let mut source = source.clone();
        if let Some(timeout) = calls.timeout {
            source.timeout = timeout;
        }
        Arc::new(source)
    }))
}
