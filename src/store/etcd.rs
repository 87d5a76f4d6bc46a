//! etcd 3.4 and later, by its JSON gateway.
//!
//! # Addresses
//!
//! `etcd://user:password@h1:2379,h2:2379/folder`, or `etcds://…?ca=…&cert=…&key=…` for TLS. The
//! port is 2379 and the folder `uidring` unless they are named. All keys begin with the folder and
//! a slash. `ca` is a file with the certificates of the authorities that are trusted, and no others
//! are; without it, they are those of Mozilla's list. `cert` and `key` are files with the client's
//! own certificate and key. All three are PEM. `passfile` is the file with
//! [the password](super#passwords).
//!
//! The servers are members of one cluster. The first one is asked, and the next one if that is down
//! or does not answer: each gets its share of the time that is left. Who answered last is asked
//! first by the next call.
//!
//! The user and the password are sent once, for a token. Another token is asked for where the
//! cluster does not know it any more: where it says so, and where no answer comes, as several
//! versions close the connection without a word then.
//!
//! # What is promised
//!
//! A commit is one transaction of etcd, which compares the `mod_revision` of each key. It is on the
//! disks of a majority of the members when it is confirmed. All reads are linearizable. If no
//! answer comes after a commit was sent, the same commit is sent again as long as there is time. It
//! is made once at most, because it names versions, and changes them. If no answer comes at all,
//! its outcome is unknown.
//!
//! These are refused, each with what to do:
//!
//! * a version that loses what it has confirmed: 3.5.0 to 3.5.2, 3.5.5 and 3.4.21; in a cluster of
//!   one member all of 3.4 before 3.4.21, and 3.5.3 and 3.5.4; and in a cluster of several members
//!   all of 3.5 before 3.5.14, and with a user in the address all of 3.4 before 3.4.8;
//! * a member with `--unsafe-no-fsync`: its metrics count the syncs of its log. Where they are too
//!   few to tell, a transaction that changes nothing is made, which must make them more;
//! * a learner, if no other member of the address answers;
//! * a cluster with the alarm CORRUPT. One with the alarm NOSPACE is read, and not written to; 3.4
//!   before 3.4.20 and 3.5 before 3.5.7 do not let it be read either, as reads are transactions.
//!
//! A member is asked for its version and for alarms before its answers are relied on, and again
//! after a minute; its syncs are looked at every ten minutes. With authentication, some versions
//! tell these to users with the role root alone, such as 3.5.28 to 3.5.31 and 3.6.0 to 3.6.11. For
//! other users, `/version` tells the version; that the member reads for them shows that it is no
//! learner; and the alarm CORRUPT shows when it refuses a write.
//!
//! Each answer names the member that gives it. Several may be behind one address, as long as all
//! requests of a connection meet the same one. Where each request may meet another one, one may
//! answer that cannot be looked at. Then a read is refused, and the outcome of a write is unknown.
//!
//! Each answer names its cluster, revision and term. A process that has seen them notices that the
//! cluster was restored from a backup, as the revision or the term goes back, or that it is another
//! one, and gives no ids any more.
//!
//! # What cannot be told
//!
//! * Where `/metrics` is not served at the address, or is kept from this client, or the user may
//!   not write, nobody notices `--unsafe-no-fsync`. Members that are not in the address are not
//!   looked at.
//! * Where `/version` tells the version, nothing tells which member it is of.
//! * A disk that forgets what it has confirmed to etcd.
//! * In 3.4 before 3.4.32, too, a member of several that crashes during a compaction can come back
//!   with a lower revision than the others, and confirm what they refuse. This takes a compaction
//!   up to a revision that has removed a key, and a crash between two of its steps. These versions
//!   are not refused, as distributions have no others: Debian 12 has 3.4.23. It is one more reason
//!   to use 3.5.14 or later.
//! * A process that starts after a restore has seen nothing of what was there before.
//! * The time is that of the header `Date`, in whole seconds, by the clock of the member that
//!   answers. Each member has its own clock: keep them together, as by NTP.
//!
//! # Production, in five lines
//!
//! 1. Three or five members, of the latest version of 3.5 or 3.6, on disks of their own.
//! 2. Name all of them in the address, with `etcds://`, `ca`, and a user or a client certificate.
//!    The gateway does not take the certificate for the user, so with authentication on, name one.
//! 3. A role for that user: `etcdctl role grant-permission ids readwrite --prefix ids/`.
//! 4. `--auto-compaction-retention=1h`, because etcd keeps each value that a key has had.
//! 5. Alerts on the alarms of the cluster, and on the size of its database.
//!
//! # Backups
//!
//! A snapshot that is restored brings back an old copy of all counters, so that ids could be given
//! again, also with `--bump-revision`. Before the cluster is used again: stop all processes that
//! use it; make `last_number` of each tag at least the largest number that was given; and start
//! generators only when the time is past all ids that were given. A permanent worker id that was
//! given after the backup is given again: make `last_worker` in the key `layout` at least the
//! largest one that was given.
//!
//! # What was tried
//!
//! The tests run 3.4.23 and 3.5.30, alone and with three members, of which each is killed and the
//! one that leads is cut off; behind HAProxy and `etcd gateway`, by connections; and a cluster that
//! goes on by `--force-new-cluster`. A `grpc-proxy` is refused, as it has no gateway for JSON. What
//! 3.6 does otherwise rests on its documentation and sources.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    name: "etcd",
    feature: "etcd",
    schemes: &["etcd", "etcds"],
    #[cfg(feature = "etcd")]
    open: Some(|address| {
        super::key_server::open(address, KIND.schemes[0], crate::backend::keys::Etcd::at, |_| None)
    }),
    #[cfg(not(feature = "etcd"))]
    open: None,
};
