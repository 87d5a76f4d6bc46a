//! Whether a member keeps what it confirms.

use std::cmp::Ordering;

use serde_json::Value;

use super::diagnosis::CORRUPT;
use super::wire::{Header, Malformed};
use crate::backend::keys::Error;

/// What a member says of itself.
#[derive(Debug)]
pub struct Status {
    pub header: Header,
    pub version: String,
    pub is_learner: bool,
    /// The alarms of the cluster, and what else is wrong.
    pub errors: Vec<String>,
}

type Version = [u64; 3];

/// In which clusters a version loses what it has confirmed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Affected {
    Everywhere,
    OneMember,
    /// A member has other data than the others after a crash, and confirms what they refuse.
    SeveralMembers,
    /// The same, where the cluster authenticates its users.
    SeveralWithUsers,
}

/// Versions that lose what they have confirmed, by their change logs: the first and the last of
/// them, the clusters in which they do, and the version in which all of that is mended.
const LOSSY: &[(Version, Version, Affected, &str)] = &[
    // A crash under load leaves members with other data.
    ([3, 5, 0], [3, 5, 2], Affected::Everywhere, "3.5.14"),
    // So does a member that recovers from a snapshot.
    ([3, 4, 21], [3, 4, 21], Affected::Everywhere, "3.4.22"),
    ([3, 5, 5], [3, 5, 5], Affected::Everywhere, "3.5.14"),
    // A transaction is confirmed before it is on the disk.
    ([3, 4, 0], [3, 4, 20], Affected::OneMember, "3.4.22"),
    ([3, 5, 3], [3, 5, 4], Affected::OneMember, "3.5.14"),
    // A crash during a defragmentation, up to 3.5.5, or a compaction makes revisions differ. After
    // a compaction they can in 3.4, too, before 3.4.32: see the documentation of the store.
    ([3, 5, 3], [3, 5, 13], Affected::SeveralMembers, "3.5.14"),
    // A member that starts again may have forgotten changes of users, and refuses writes for it.
    ([3, 4, 0], [3, 4, 7], Affected::SeveralWithUsers, "3.4.22"),
];

impl Status {
    pub fn of(answer: &Value) -> Result<Status, Malformed> {
        let header = Header::of(answer)?;
        let version = answer["version"].as_str().ok_or("it does not tell its version")?;
        let errors = answer["errors"].as_array();
        let errors = errors.into_iter().flatten().filter_map(Value::as_str);
        Ok(Status {
            header,
            version: version.to_owned(),
            is_learner: answer["isLearner"].as_bool().unwrap_or(false),
            errors: errors.map(str::to_owned).collect(),
        })
    }

    /// Why the member cannot be relied on, whatever else is in its cluster.
    pub fn refusal(&self) -> Option<Error> {
        let Status { version, .. } = self;
        let parts = parts(version);
        if parts < [3, 4, 0] {
            return Some(Error::problem(format!(
                "its version is {version}, and this store needs 3.4 or later; upgrade it"
            )));
        }
        if let Some(fixed) = self.fixed(|place| place == Affected::Everywhere) {
            return Some(Error::problem(format!(
                "its version {version} can lose what it has confirmed; upgrade all members to \
                 {fixed} or later"
            )));
        }
        let is_corrupt = self.errors.iter().any(|error| error.contains("CORRUPT"));
        is_corrupt.then(|| Error::problem(CORRUPT))
    }

    /// Whether it can be relied on in some clusters alone.
    pub fn depends_on_members(&self) -> bool {
        self.fixed(|_| true).is_some()
    }

    /// Why a cluster with these `members` cannot be relied on, which may have users.
    pub fn refusal_among(&self, members: &Value, has_users: bool) -> Option<Error> {
        let Status { version, .. } = self;
        let all = members["members"].as_array()?;
        let voting = all.iter().filter(|member| member["isLearner"].as_bool() != Some(true));
        let alone = || self.fixed(|place| place == Affected::OneMember);
        if let Some(fixed) = (voting.count() < 2).then(alone).flatten() {
            return Some(Error::problem(format!(
                "its version {version} confirms transactions before they are on the disk if a \
                 cluster has one member, as this one; upgrade it to {fixed} or later"
            )));
        }
        // A learner may be promoted at any time.
        let several = || {
            self.fixed(|place| {
                place == Affected::SeveralMembers
                    || has_users && place == Affected::SeveralWithUsers
            })
        };
        let fixed = (all.len() > 1).then(several).flatten()?;
        Some(Error::problem(format!(
            "its version {version} is unfit for a cluster of several members: one of them may have \
             other data than others after a crash, and confirm what they refuse; upgrade all \
             members to {fixed} or later"
        )))
    }

    /// In which version that is mended which makes this one lossy there.
    fn fixed(&self, is_there: impl Fn(Affected) -> bool) -> Option<&'static str> {
        let version = parts(&self.version);
        let mut lossy = LOSSY.iter().filter(|(first, last, ..)| (first..=last).contains(&&version));
        lossy.find(|(_, _, place, _)| is_there(*place)).map(|(.., fixed)| *fixed)
    }
}

/// The numbers of a version, such as 3.6.0-rc.1.
fn parts(version: &str) -> Version {
    let mut numbers = version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

/// How a member has written its log since its start, by its metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    /// How often it has synced it.
    syncs: f64,
    /// How many bytes it has written to it.
    written: Option<f64>,
}

impl Log {
    /// `None` where these are not etcd's metrics.
    pub fn of(metrics: &str) -> Option<Log> {
        let number = |name: &str| {
            let number = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
            metrics.lines().find_map(number)
        };
        Some(Log {
            syncs: number("etcd_disk_wal_fsync_duration_seconds_count ")?,
            written: number("etcd_disk_wal_write_bytes_total "),
        })
    }

    /// Whether it has synced more often than a member with `--unsafe-no-fsync`, which does so twice
    /// when it makes its log, and once whenever 64 MB of it are full.
    pub fn is_synced(&self) -> bool {
        self.written.is_some_and(|written| self.syncs > 4.0 + written / 16e6)
    }

    /// Whether it was synced since it was as `before`, or was begun anew by a start.
    pub fn is_other_than(&self, before: &Log) -> bool {
        self.syncs.partial_cmp(&before.syncs) != Some(Ordering::Equal)
    }
}

/// Whether the `metrics` name the members that they are of, and not this one.
pub fn is_of_another(metrics: &str, member: u64) -> bool {
    let id = |line: &str| {
        let (id, _) = line.strip_prefix("etcd_server_id{server_id=\"")?.split_once('"')?;
        u64::from_str_radix(id, 16).ok()
    };
    let mut named = metrics.lines().filter_map(id).peekable();
    named.peek().is_some() && named.all(|id| id != member)
}

/// What to do about an address behind which another member answers than the one that was looked at.
pub const SEVERAL_MEMBERS: &str = "several members answer behind this address, so that the one \
                           that confirms need not be the one that was looked at; name each of them \
                           in the address";

/// What to do about a member whose version cannot be known.
pub const HIDDEN_VERSION: &str = "it tells its status to users with the role root alone, as 3.5.28 \
                          to 3.5.31 and 3.6.0 to 3.6.11 do, and no version at /version; upgrade it \
                          to 3.5.32, 3.6.12 or later, or let /version be asked";

pub const NO_SYNC: &str = "it does not sync its log, so that a power failure could take ids back \
                           that have been given; start it without --unsafe-no-fsync";

/// Why a cluster whose answer has the header `now` is not the one that was `seen`.
pub fn restored_cluster(seen: &Header, now: &Header) -> Option<Error> {
    let what = if now.cluster != seen.cluster {
        format!("its id is {:x} and was {:x}", now.cluster, seen.cluster)
    } else if now.revision < seen.revision {
        format!("its revision went back from {} to {}", seen.revision, now.revision)
    } else if now.term != 0 && now.term < seen.term {
        format!("its raft term went back from {} to {}", seen.term, now.term)
    } else {
        return None;
    };
    Some(Error::problem(format!(
        "it was restored from a backup, or is another cluster than this process has used before \
         ({what}), and may give again what was given; stop what uses it, make its counters larger \
         than all ids that were given, as the documentation of the store of etcd says, and start \
         again"
    )))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Log, is_of_another};

    /// Both as etcd 3.4.23 told them, but for the longest numbers.
    #[test]
    fn a_log_that_is_synced_is_told_apart() {
        let log = |syncs: &str, written: &str| {
            Log::of(&format!(
                "# TYPE etcd_disk_wal_fsync_duration_seconds histogram\n\
                 etcd_disk_wal_fsync_duration_seconds_bucket{{le=\"+Inf\"}} 7\n\
                 etcd_disk_wal_fsync_duration_seconds_sum 0.5\n\
                 etcd_disk_wal_fsync_duration_seconds_count {syncs}\n\
                 etcd_disk_wal_write_bytes_total {written}\n"
            ))
        };
        for (syncs, written) in [("8", "1704"), ("246", "149600"), ("1.234567e+06", "9.5e+09")] {
            assert!(log(syncs, written).unwrap().is_synced(), "{syncs}");
        }
        for (syncs, written) in [("2", "1184"), ("4", "1.50656984e+08"), ("150", "9.5e+09")] {
            assert!(!log(syncs, written).unwrap().is_synced(), "{syncs}");
        }
        assert!(!Log::of("etcd_disk_wal_fsync_duration_seconds_count 9").unwrap().is_synced());
        assert_eq!(Log::of("etcd_disk_wal_write_bytes_total 9"), None);
        assert_eq!(log("many", "1"), None);
    }

    /// As etcd 3.4.23 names itself.
    #[test]
    fn metrics_of_another_member_are_told_apart() {
        let metrics = "# TYPE etcd_server_id gauge\n\
                       etcd_server_id{server_id=\"24e2ba8d9dc7b432\"} 1\n";
        assert!(!is_of_another(metrics, 2_657_891_847_502_279_730));
        assert!(is_of_another(metrics, 2));
        // A program that has several members in it, and one that names none.
        let both = format!("{metrics}etcd_server_id{{server_id=\"2\"}} 1\n");
        assert!(!is_of_another(&both, 2));
        assert!(!is_of_another("up 1\n", 2));
    }
}
