//! ZooKeeper 3.4 and later: keys are nodes, and a commit is one multi-operation. Tried on 3.8.0.
//!
//! # Addresses
//!
//! `zookeeper://user:password@h1:2181,h2:2181/path`, or `zookeepers://…?ca=…&cert=…&key=…` for TLS.
//! The port is 2181 and the path `/uidring` unless they are named. The nodes of the path are made
//! when they are needed. Let no path lie in that of another address: a node of the other without
//! data, where a key is to be, is refused. `ca` is a file with the certificates of the authorities
//! that are trusted, and no others are; without it, they are those of Mozilla's list. `cert` and
//! `key` are files with the client's own certificate and key, which the servers ask for unless told
//! otherwise. All three are PEM. `admin` is the port of the servers' admin servers, 8080 unless it
//! is named; they are not asked where it is 0. `passfile` is the file with
//! [the password](super#passwords); the nodes stay those of the password that they were made with.
//!
//! The servers are those of one ensemble, asked by turns at random. The next one is asked if one is
//! down or does not answer: each gets its share of the time that is left. If none serves, the error
//! tells of all, and counts as one that may pass if that of one server does.
//!
//! The user and the password are those of digest authentication; an address may leave both out.
//! ZooKeeper takes any password; it is the nodes that are somebody's. All nodes that are
//! made with a user have an ACL for what the session has authenticated as, and nobody else may read
//! them: the user with this password, and the certificate, if the servers have asked for one. Those
//! that are made without a user are for everybody. The ACL of a node that is there is left as it
//! is. The password crosses the network as it is, unless there is TLS. SASL is not spoken.
//!
//! # What is promised
//!
//! A commit is one multi-operation, which compares the versions of the nodes. It is on the disks of
//! most servers when it is confirmed. Before a read, the server gets all that was confirmed to
//! anybody before. If no answer comes after a commit was sent, the session ends or the connection
//! breaks, the same commit is sent again as long as there is time. It is made once at most, because
//! it names versions, and changes them. If no answer comes at all, its outcome is unknown.
//!
//! A session lasts as long as a call. It holds no node, so that a process that is killed leaves
//! nothing behind but a session that expires by itself. No thread outlives a call, but one that the
//! system's look-up of a name keeps; and a forked process goes on as its parent does.
//!
//! These are refused, each with what to do:
//!
//! * a server with `forceSync=no`: its admin server tells it, and where `mntr` is among the words
//!   in `4lw.commands.whitelist`, it counts what it writes and no syncs;
//! * a server with `snapshot.trust.empty=true`, if its admin server tells it;
//! * a server with `skipACL=yes`, if its admin server tells it, and the address has a user;
//! * `ClickHouse` Keeper, which `mntr` tells, unless the address says `untried=yes`: nobody has
//!   tried it;
//! * a server that only reads, that has no quorum, or that is behind what the process has seen: it
//!   is as if it were down. An observer serves as well as any other.
//!
//! A server is looked at when it gives the first session, and again after a minute. It takes other
//! settings only when it starts.
//!
//! Each answer has the number of the newest change, and a server refuses a client that has seen a
//! later one. So a process notices that a single server was set back to an old copy, and gives no
//! ids any more until it is put right. A leader that is behind may have been deposed a moment ago:
//! it is as if it were down.
//!
//! # What cannot be told
//!
//! * Clients are told no settings. Where the admin server is off, at another port, or kept from
//!   this client, and `mntr` is not allowed, nobody notices them. By itself, a server from 3.5
//!   allows only the word `srvr`, and has its admin server on. It is asked without TLS. Servers
//!   that are not in the address are not looked at.
//! * An ensemble that is restored holds an election, and its numbers may then be later than all
//!   before. The name of the store, and the counts, are what is left to notice it by; a process
//!   that starts after it has seen nothing of what was there before.
//! * A `dataDir` in memory, a disk that forgets what it has confirmed, or a server that comes back
//!   with an empty one: unless `db.autocreate=false` is set, that server votes as if it had never
//!   confirmed anything, and with it most servers may know nothing of a commit.
//! * With `localSessionsEnabled`, a leader that was deposed in this moment, and does not know yet,
//!   may answer a read as it was before. Commits are not affected.
//!
//! # Production, in five lines
//!
//! 1. Three or five servers, of the latest release of 3.8 or 3.9: releases before have lost what
//!    was confirmed, where servers crashed in an election.
//! 2. `db.autocreate=false` on all of them, with a file `initialize` in the `dataDir` at the very
//!    first start, and a disk of its own for `dataLogDir`.
//! 3. `4lw.commands.whitelist=srvr,mntr`, and the admin servers reachable for the clients, or off.
//! 4. Name all servers in the address, with `zookeepers://`, and a user or a certificate.
//! 5. `autopurge.purgeInterval=1`, because ZooKeeper keeps each snapshot and log that it has
//!    written.
//!
//! # Backups
//!
//! A copy of `dataDir` and `dataLogDir` that is put back brings back an old copy of all counters,
//! so that ids could be given again. Before the servers are used again, stop all processes that use
//! them. Raise `last_number` of each tag to the largest number that was given, and `last_worker` in
//! the node `layout` to the largest worker id; remove the nodes below `workers`.
//! `docs/operations/restore.md` shows how.
//!
//! # What was tried
//!
//! The tests run 3.8.0 and 3.9.6, alone and with three servers, of which each is killed and the one
//! that leads is cut off. What other versions do rests on their documentation and sources. The
//! admin server, TLS and each refusal are tried, too; observers, local sessions, `db.autocreate`
//! and the `restore` of 3.9 are not.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    name: "ZooKeeper",
    feature: "zookeeper",
    schemes: &["zookeeper", "zookeepers"],
    #[cfg(feature = "zookeeper")]
    open: Some(|address| {
        super::key_server::open(
            address,
            KIND.schemes[0],
            crate::backend::keys::ZooKeeper::at,
            |_| None,
        )
    }),
    #[cfg(not(feature = "zookeeper"))]
    open: None,
};
