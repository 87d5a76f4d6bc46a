//! Servers of stores of keys that fare badly, for the storms.
#![allow(clippy::unwrap_used)]

use crate::key_servers::etcd::Etcds;
use crate::key_servers::redis::OwnRedis;
use crate::key_servers::zookeeper::ZooKeepers;
use crate::takers::Fragile;

/// How many servers serve together: most of them go on when one is away.
const MEMBERS: usize = 3;

/// Three members of etcd, of which one at a time fares badly, the leader as well.
pub struct BadEtcd {
    members: Etcds,
    paused: usize,
}

impl BadEtcd {
    pub fn start() -> BadEtcd {
        BadEtcd { members: Etcds::start(MEMBERS, &[]), paused: 0 }
    }

    fn crash(&mut self, member: usize) {
        self.members.kill(member);
        self.members.restart(&[member]);
    }
}

impl Fragile for BadEtcd {
    fn url(&self) -> String {
        format!("etcd://{}/ids", self.members.places())
    }

    fn crash_and_restart(&mut self) {
        self.crash(fastrand::usize(..MEMBERS));
    }

    fn pause(&mut self) {
        self.paused = fastrand::usize(..MEMBERS);
        self.members.signal(self.paused, "-STOP");
    }

    fn resume(&mut self) {
        self.members.signal(self.paused, "-CONT");
    }

    /// Those of the leader.
    fn cut_connections(&mut self) {
        // There is none for a moment after another crash.
        let leader = self.members.leader().unwrap_or_default();
        self.crash(leader);
    }
}

/// Three servers of `ZooKeeper`.
pub struct BadZooKeeper {
    servers: ZooKeepers,
    paused: usize,
}

impl BadZooKeeper {
    pub fn start() -> BadZooKeeper {
        BadZooKeeper { servers: ZooKeepers::start(MEMBERS, ""), paused: 0 }
    }

    fn crash(&mut self, server: usize) {
        self.servers.kill(server);
        self.servers.restart(server);
    }
}

impl Fragile for BadZooKeeper {
    fn url(&self) -> String {
        format!("zookeeper://{}/ids", self.servers.places())
    }

    fn crash_and_restart(&mut self) {
        self.crash(fastrand::usize(..MEMBERS));
    }

    fn pause(&mut self) {
        self.paused = fastrand::usize(..MEMBERS);
        self.servers.signal(self.paused, "-STOP");
    }

    fn resume(&mut self) {
        self.servers.signal(self.paused, "-CONT");
    }

    /// Those of the leader.
    fn cut_connections(&mut self) {
        self.crash(self.servers.leader());
    }
}

impl Fragile for OwnRedis {
    fn url(&self) -> String {
        OwnRedis::url(self, "/0/ids")
    }

    fn crash_and_restart(&mut self) {
        self.kill();
        self.restart();
    }

    fn pause(&mut self) {
        OwnRedis::pause(self);
    }

    fn resume(&mut self) {
        OwnRedis::resume(self);
    }

    fn cut_connections(&mut self) {
        self.run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    }
}
