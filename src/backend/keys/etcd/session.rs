//! A call: which server is asked, and what is made of its answers.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

use super::attempt::{AttemptError, malformed, several_members, unknown, unusable};
use super::diagnosis::{self, LEARNER, ReplyError};
use super::durability::{self, Log, Status};
use super::http;
use super::wire::{self, Header, Malformed, Request};
use super::{ClusterState, Etcd, Login, Token};
use crate::backend::error::Cause;
use crate::backend::keys::{Action, Change, Deadline, Entry, Error, See, Session, no_server};
use crate::clock::Stopwatch;
use crate::sync::{MutexGuard, lock};

/// After this time a member is asked again for its version, and for alarms.
const TRUST: Duration = Duration::from_secs(60);

/// After this time it is looked again whether a member syncs its log.
const TRUST_SYNCS: Duration = Duration::from_secs(600);

/// The most keys in one request. A transaction of etcd may have 128 parts unless set otherwise.
const MOST_KEYS: usize = 100;

/// The most keys in one answer to a listing. A gateway of 3.4 reads 4 MiB.
const PAGE: usize = 500;

/// A call.
pub struct EtcdSession<'a> {
    store: &'a Etcd,
    agent: Agent,
    deadline: &'a Deadline,
    /// The index of the server that is asked.
    server: usize,
    /// The time in the header of an answer, and when it came.
    server_time: Option<(i64, Stopwatch)>,
}

impl<'a> EtcdSession<'a> {
    /// Finds a server that answers and keeps what it confirms.
    pub fn open(store: &'a Etcd, deadline: &'a Deadline) -> Result<EtcdSession<'a>, Error> {
        let (agent, server) = (store.agent(), lock(&store.cluster).first);
        let mut session = EtcdSession { store, agent, deadline, server, server_time: None };
        session.try_each_server(false, EtcdSession::prepare)?;
        Ok(session)
    }

    /// Has the servers `answer` by turns, until one does. Each has its share of the time that is
    /// left. What is a write is sent to no other server once it may have been done.
    fn try_each_server<T>(
        &mut self,
        is_write: bool,
        answer: impl Fn(&mut Self, &Deadline) -> Result<T, AttemptError>,
    ) -> Result<T, Error> {
        let servers = self.store.servers.len();
        let mut errors = Vec::new();
        while errors.len() < servers {
            let left = u32::try_from(servers - errors.len()).unwrap_or(u32::MAX);
            // The outcome of a write without an answer is found out in the other half of the time.
            let parts = if is_write { left.max(2) } else { left };
            let share = Deadline::after(self.deadline.left() / parts);
            let (error, is_done) = match answer(self, &share) {
                Ok(answer) => {
                    self.cluster().first = self.server;
                    return Ok(answer);
                }
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::Unknown(error)) => (error, is_write),
                Err(AttemptError::TryNext(error)) => (error, false),
            };
            let server = format!("{}: ", self.store.servers[self.server].name);
            self.server = (self.server + 1) % servers;
            self.cluster().first = self.server;
            if is_done {
                return Err(unknown(error));
            }
            errors.push((server, error));
        }
        Err(no_server("none of its servers answers as it must: ", errors))
    }

    /// Asks the cluster.
    fn ask<T>(
        &mut self,
        request: &Request,
        read: impl Fn(&Value) -> Result<T, Malformed>,
    ) -> Result<T, Error> {
        self.try_each_server(request.is_write, |session, share| {
            let answer = session.answer(request, share)?;
            read(&answer).map_err(malformed)
        })
    }

    /// What this server answers.
    fn answer(&mut self, request: &Request, share: &Deadline) -> Result<Value, AttemptError> {
        self.prepare(share)?;
        // Others may see more while this waits for its answer.
        let seen = self.cluster().seen;
        let answer = self.authorized(request, share)?;
        match self.check_origin(&answer, seen.as_ref(), share) {
            Ok(()) => Ok(answer),
            // It may have been made, whatever is wrong with the member that says so.
            Err(error) if request.is_write => Err(AttemptError::Unknown(error.into_error())),
            Err(error) => Err(error),
        }
    }

    /// Makes sure that an answer comes from the cluster that was `seen`, and from a member that can
    /// be relied on.
    fn check_origin(
        &mut self,
        answer: &Value,
        seen: Option<&Header>,
        share: &Deadline,
    ) -> Result<(), AttemptError> {
        let header = Header::of(answer).map_err(malformed)?;
        self.note_progress(seen, header).map_err(AttemptError::Final)?;
        let member = header.member;
        self.cluster().members[self.server] = Some(member);
        if self.is_trusted(member) {
            return Ok(());
        }
        // Behind one address there may be several members. Where each request may meet another one,
        // this one cannot be looked at.
        self.prepare(share)?;
        if self.is_trusted(member) { Ok(()) } else { Err(several_members()) }
    }

    /// whether the member can be relied on.
    fn is_trusted(&self, member: u64) -> bool {
        let cluster = self.cluster();
        cluster.is_checked(member) && cluster.is_synced(member)
    }

    /// Makes sure that the cluster is the one that was `seen`, and remembers how far it has come.
    fn note_progress(&self, seen: Option<&Header>, now: Header) -> Result<(), Error> {
        if let Some(error) = seen.and_then(|seen| durability::restored_cluster(seen, &now)) {
            return Err(error);
        }
        let cluster = &mut self.cluster().seen;
        *cluster = Some(cluster.map_or(now, |cluster| Header {
            revision: cluster.revision.max(now.revision),
            term: cluster.term.max(now.term),
            ..cluster
        }));
        Ok(())
    }

    /// Makes sure that this server can be relied on, and that there is a token for it.
    fn prepare(&mut self, share: &Deadline) -> Result<(), AttemptError> {
        let cluster = self.cluster();
        let member = cluster.members[self.server];
        let is_fit = member.is_some_and(|member| cluster.is_checked(member));
        drop(cluster);
        if !is_fit {
            self.check(share)?;
        }
        if self.store.login.is_some() && self.cluster().token == Token::Unknown {
            self.authenticate(share)?;
        }
        let cluster = self.cluster();
        let due = cluster.members[self.server].filter(|member| !cluster.is_synced(*member));
        drop(cluster);
        if let Some(member) = due {
            self.check_syncs(member, share)?;
            self.cluster().synced.insert(member, Stopwatch::start());
        }
        Ok(())
    }

    /// Asks the server for its version, its part in the cluster, and alarms.
    fn check(&mut self, share: &Deadline) -> Result<(), AttemptError> {
        let seen = self.cluster().seen;
        let status = match self.authorized(&Request::status(), share) {
            Ok(answer) => Status::of(&answer).map_err(malformed)?,
            // Some versions tell it to users with the role root alone.
            Err(AttemptError::Final(Error::Denied(_))) => self.visible_status(share)?,
            Err(error) => return Err(error),
        };
        // It tells how far this member has come, which may be less far than others.
        let seen = seen.map(|seen| Header { cluster: seen.cluster, ..status.header });
        let change = seen.and_then(|seen| durability::restored_cluster(&seen, &status.header));
        if let Some(error) = change.or_else(|| status.refusal()) {
            return Err(AttemptError::Final(error));
        }
        if status.is_learner {
            let problem = LEARNER.to_owned();
            return Err(AttemptError::TryNext(Error::Unreachable { problem, source: None }));
        }
        if status.depends_on_members() {
            let members = self.authorized(&Request::members(), share)?;
            let has_users = self.store.login.is_some();
            if let Some(error) = status.refusal_among(&members, has_users) {
                return Err(AttemptError::Final(error));
            }
        }
        let (member, mut cluster) = (status.header.member, self.cluster());
        cluster.members[self.server] = Some(member);
        cluster.checked.insert(member, Stopwatch::start());
        Ok(())
    }

    /// The status of a server as far as each user sees it. A learner refuses to read, and what a
    /// server with the alarm CORRUPT refuses is a write.
    fn visible_status(&mut self, share: &Deadline) -> Result<Status, AttemptError> {
        let answer = self.authorized(&Request::read(&[self.full("store")]), share)?;
        let header = Header::of(&answer).map_err(malformed)?;
        let url = format!("{}/version", self.store.servers[self.server].url);
        let reply = http::send(&self.agent, &url, None, None, share.left());
        let reply = reply.map_err(ReplyError::from)?;
        let json: Value = serde_json::from_str(&reply.text).unwrap_or_default();
        match json["etcdserver"].as_str() {
            Some(version) => {
                let (version, errors) = (version.to_owned(), Vec::new());
                Ok(Status { header, version, is_learner: false, errors })
            }
            None => Err(AttemptError::Final(Error::problem(durability::HIDDEN_VERSION))),
        }
    }

    /// Looks whether the `member` syncs its log, as far as that can be seen.
    ///
    /// What it has written since its start mostly tells. If not, it is tried.
    ///
    /// A member may answer before its own sync is done, where others have made a majority. But it
    /// begins with the next entries of its log only after that, so two transactions are tried.
    fn check_syncs(&mut self, member: u64, share: &Deadline) -> Result<(), AttemptError> {
        let nothing = Request::nothing(&self.full("nothing"));
        let log = self.log(member, share)?;
        let Some(before) = log.filter(|log| !log.is_synced()) else { return Ok(()) };
        for _ in 0..2 {
            match self.authorized(&nothing, share) {
                // Another one may answer before this one has written it.
                Ok(answer) if Header::of(&answer).map_err(malformed)?.member != member => {
                    return Err(several_members());
                }
                Ok(_) => {}
                // The user may not write, or the cluster is full.
                Err(AttemptError::Final(_)) => return Ok(()),
                Err(error) => return Err(error),
            }
            if self.log(member, share)?.is_none_or(|now| now.is_other_than(&before)) {
                return Ok(());
            }
        }
        Err(AttemptError::Final(Error::problem(durability::NO_SYNC)))
    }

    /// What the `member` tells of its log, if it does.
    fn log(&self, member: u64, share: &Deadline) -> Result<Option<Log>, AttemptError> {
        let url = format!("{}/metrics", self.store.servers[self.server].url);
        // What serves this may be something else than etcd.
        let reply = http::send(&self.agent, &url, None, None, share.left() / 4);
        let Ok(metrics) = reply.map(|reply| reply.text) else { return Ok(None) };
        if durability::is_of_another(&metrics, member) {
            return Err(several_members());
        }
        Ok(Log::of(&metrics))
    }

    /// Asks the server with the token, and with another one if that is refused.
    fn authorized(&mut self, request: &Request, share: &Deadline) -> Result<Value, AttemptError> {
        let token = self.cluster().token.clone();
        let error = match self.exchange(request, &token, share) {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let no_reply = match error {
            ReplyError::Token(message) if self.store.login.is_none() => {
                let problem = "it wants to know a user; name one in the address, with a password";
                return Err(AttemptError::Final(unusable(problem, message)));
            }
            ReplyError::Token(_) => None,
            // Several versions close the connection without a word where they know the token no
            // more. Others say so.
            ReplyError::NoReply(error) if self.store.login.is_some() => Some(error),
            error => return Err(error.into()),
        };
        // Another call may have got one meanwhile.
        let mut cluster = self.cluster();
        if cluster.token == token {
            cluster.token = Token::Unknown;
        }
        let is_due = cluster.token == Token::Unknown;
        drop(cluster);
        if let Some(error) = no_reply {
            // The next call logs in. A write may have been made, and is not sent again here.
            if request.is_write || share.left() < share.timeout / 2 {
                return Err(AttemptError::Unknown(error));
            }
            match if is_due { self.authenticate(share) } else { Ok(()) } {
                Ok(()) => {}
                Err(AttemptError::Final(error)) => return Err(AttemptError::Final(error)),
                Err(_) => return Err(AttemptError::Unknown(error)),
            }
        } else if is_due {
            self.authenticate(share)?;
        }
        let token = self.cluster().token.clone();
        Ok(self.exchange(request, &token, share)?)
    }

    /// Gets a token for the user.
    fn authenticate(&mut self, share: &Deadline) -> Result<(), AttemptError> {
        let Some(Login { user, password }) = self.store.login.as_deref() else { return Ok(()) };
        let request = Request::token(user, password);
        let token = match self.exchange(&request, &Token::NotNeeded, share) {
            Ok(answer) => {
                let token = answer["token"].as_str().map(str::to_owned);
                Token::Issued(token.ok_or_else(|| malformed("its answer has no token"))?)
            }
            Err(ReplyError::NoUsers) => Token::NotNeeded,
            Err(error) => return Err(error.into()),
        };
        self.cluster().token = token;
        Ok(())
    }

    fn exchange(
        &mut self,
        request: &Request,
        token: &Token,
        share: &Deadline,
    ) -> Result<Value, ReplyError> {
        let url = format!("{}{}", self.store.servers[self.server].url, request.path);
        let token = if let Token::Issued(token) = token { Some(token.as_str()) } else { None };
        let body = Some(request.body.as_str());
        let reply = http::send(&self.agent, &url, body, token, share.left())?;
        self.server_time = reply.date.map(|date| (date, Stopwatch::start()));
        let password = self.store.login.as_deref().map(|login| login.password.as_str());
        diagnosis::parse_reply(&reply, &[token.unwrap_or_default(), password.unwrap_or_default()])
    }

    fn full(&self, key: &str) -> String {
        format!("{}/{key}", self.store.folder)
    }

    fn cluster(&self) -> MutexGuard<'a, ClusterState> {
        lock(&self.store.cluster)
    }

    /// What became of `changes` after the server said that it is full, for `cause`. It says so of
    /// the transaction that fills it, too, which it makes.
    fn after_full(&mut self, changes: &[Change<'_>], cause: Cause) -> Result<bool, Error> {
        let keys: Vec<&str> = changes.iter().map(|change| change.key).collect();
        let found = self.read(&keys).map_err(unknown)?;
        let version = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.version.clone());
        let mut pairs = changes.iter().zip(&found);
        if pairs.clone().all(|(change, entry)| change.version == version(entry).as_ref()) {
            return Err(Error::Full(cause));
        }
        let is_made = pairs.any(|(change, entry)| match (change.action, entry) {
            (Action::Write(value), Some(entry)) => entry.value == value,
            _ => false,
        });
        if is_made {
            return Ok(true);
        }
        let problem = "it is full, and others have written since".to_owned();
        Err(Error::Unreachable { problem, source: Some(cause) })
    }
}

impl Session for EtcdSession<'_> {
    fn read(&mut self, keys: &[&str]) -> Result<Vec<Option<Entry>>, Error> {
        let mut found = Vec::with_capacity(keys.len());
        for keys in keys.chunks(MOST_KEYS) {
            let keys: Vec<String> = keys.iter().map(|key| self.full(key)).collect();
            let request = Request::read(&keys);
            found.extend(self.ask(&request, |answer| wire::values(answer, &keys))?);
        }
        Ok(found)
    }

    fn each(&mut self, folder: &str, see: &mut See<'_>) -> Result<(), Error> {
        let folder = format!("{}/", self.full(folder));
        let mut last: Option<String> = None;
        loop {
            let request = Request::list(&folder, last.as_deref(), PAGE);
            let (found, is_more) = self.ask(&request, |answer| {
                let (found, is_more) = wire::page(answer)?;
                // In order, so that there is an end.
                let before = [last.as_ref().unwrap_or(&folder)];
                let keys = before.into_iter().chain(found.iter().map(|(key, _)| key));
                let is_its = found.iter().all(|(key, _)| key.starts_with(&folder));
                if !keys.is_sorted_by(|one, other| one < other) || !is_its {
                    return Err("its answer has other keys than it was asked for");
                }
                Ok((found, is_more))
            })?;
            let Some((key, _)) = found.last() else { return Ok(()) };
            last = Some(key.clone());
            for (key, entry) in found {
                let name = &key[folder.len()..];
                if !name.contains('/') {
                    see(name.to_owned(), entry)?;
                }
            }
            if !is_more {
                return Ok(());
            }
        }
    }

    fn count(&mut self, folder: &str) -> Result<u64, Error> {
        let request = Request::count(&format!("{}/", self.full(folder)));
        self.ask(&request, |answer| wire::number(&answer["count"]))
    }

    fn commit(&mut self, changes: &[Change<'_>]) -> Result<bool, Error> {
        let full = changes.iter().map(|change| (self.full(change.key), change));
        let request = Request::commit(full);
        let result =
            self.ask(&request, |answer| Ok(answer["succeeded"].as_bool().unwrap_or(false)));
        match result {
            Err(Error::Full(cause)) => self.after_full(changes, cause),
            result => result,
        }
    }

    fn now(&mut self) -> Result<i64, Error> {
        if self.server_time.is_none() {
            self.read(&["store"])?;
        }
        let Some((then, since)) = &self.server_time else {
            return Err(Error::problem(
                "its answers have no header Date, which tells the time; see what is between this \
                 process and etcd, such as a proxy",
            ));
        };
        let passed = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
        Ok(then.saturating_add(passed))
    }

    fn end(self) {}
}

impl ClusterState {
    fn is_checked(&self, member: u64) -> bool {
        self.checked.get(&member).is_some_and(|since| since.elapsed() < TRUST)
    }

    fn is_synced(&self, member: u64) -> bool {
        self.synced.get(&member).is_some_and(|since| since.elapsed() < TRUST_SYNCS)
    }
}
