//! A call: which server is asked, and what is made of its answers.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

use super::answers::{self, Bad, Header, Question};
use super::checks::{self, Log, Status};
use super::http::{self, Silence};
use super::meaning::{self, LEARNER, Refusal};
use super::{Etcd, Known, Login, Token};
use crate::backend::error::Cause;
use crate::backend::keys::{Action, Change, Deadline, Entry, Error, Session, nobody};
use crate::clock::Stopwatch;
use crate::sync::{MutexGuard, lock};

/// After this time a member is asked again for its version, and for alarms.
const FIT: Duration = Duration::from_secs(60);
/// After this time it is looked again whether a member syncs its log.
const SYNCED: Duration = Duration::from_secs(600);

/// The most keys in one question. A transaction of etcd may have 128 parts unless set otherwise.
const MOST_KEYS: usize = 100;
/// The most keys in one answer to a listing. A gateway of 3.4 reads 4 MiB.
const PAGE: usize = 500;

/// A call.
pub struct Conversation<'a> {
    store: &'a Etcd,
    agent: Agent,
    deadline: &'a Deadline,
    /// The place of the server that is asked.
    at: usize,
    /// What an answer said of the time, and when that was.
    told: Option<(i64, Stopwatch)>,
}

/// Why a server has not answered.
enum Trouble {
    /// It has done nothing, and another one may.
    Elsewhere(Error),
    /// It may have done it, or may still do it.
    Unknown(Error),
    /// It has done nothing, and no other would.
    Final(Error),
}

impl<'a> Conversation<'a> {
    /// Finds a server that answers and keeps what it confirms.
    pub fn open(store: &'a Etcd, deadline: &'a Deadline) -> Result<Conversation<'a>, Error> {
        let (agent, at) = (store.agent(), lock(&store.known).first);
        let mut conversation = Conversation { store, agent, deadline, at, told: None };
        conversation.by_turns(false, Conversation::prepare)?;
        Ok(conversation)
    }

    /// Has the servers `answer` by turns, until one does. Each has its share of the time that is
    /// left. What is a write is sent to no other server once it may have been done.
    fn by_turns<T>(
        &mut self,
        is_write: bool,
        answer: impl Fn(&mut Self, &Deadline) -> Result<T, Trouble>,
    ) -> Result<T, Error> {
        let servers = self.store.servers.len();
        let mut troubles = Vec::new();
        while troubles.len() < servers {
            let left = u32::try_from(servers - troubles.len()).unwrap_or(u32::MAX);
            // The outcome of a write without an answer is found out in the other half of the time.
            let parts = if is_write { left.max(2) } else { left };
            let share = Deadline::after(self.deadline.left() / parts);
            let (error, is_done) = match answer(self, &share) {
                Ok(answer) => {
                    self.known().first = self.at;
                    return Ok(answer);
                }
                Err(Trouble::Final(error)) => return Err(error),
                Err(Trouble::Unknown(error)) => (error, is_write),
                Err(Trouble::Elsewhere(error)) => (error, false),
            };
            let server = format!("{}: ", self.store.servers[self.at].name);
            self.at = (self.at + 1) % servers;
            self.known().first = self.at;
            if is_done {
                return Err(unknown(error));
            }
            troubles.push((server, error));
        }
        Err(nobody("none of its servers answers as it must: ", troubles))
    }

    /// Asks the cluster.
    fn ask<T>(
        &mut self,
        question: &Question,
        read: impl Fn(&Value) -> Result<T, Bad>,
    ) -> Result<T, Error> {
        self.by_turns(question.is_write, |conversation, share| {
            let answer = conversation.answer(question, share)?;
            read(&answer).map_err(strange)
        })
    }

    /// What this server answers.
    fn answer(&mut self, question: &Question, share: &Deadline) -> Result<Value, Trouble> {
        self.prepare(share)?;
        // Others may see more while this waits for its answer.
        let seen = self.known().seen;
        let answer = self.authorized(question, share)?;
        match self.accept(&answer, seen.as_ref(), share) {
            Ok(()) => Ok(answer),
            // It may have been made, whatever is wrong with the member that says so.
            Err(trouble) if question.is_write => Err(Trouble::Unknown(trouble.error())),
            Err(trouble) => Err(trouble),
        }
    }

    /// Makes sure that an answer comes from the cluster that was `seen`, and from a member that can
    /// be relied on.
    fn accept(
        &mut self,
        answer: &Value,
        seen: Option<&Header>,
        share: &Deadline,
    ) -> Result<(), Trouble> {
        let header = Header::of(answer).map_err(strange)?;
        self.notice(seen, header).map_err(Trouble::Final)?;
        let member = header.member;
        self.known().members[self.at] = Some(member);
        if self.is_known(member) {
            return Ok(());
        }
        // Behind one address there may be several members. Where each request may meet another one,
        // this one cannot be looked at.
        self.prepare(share)?;
        if self.is_known(member) { Ok(()) } else { Err(several()) }
    }

    /// Whether it is known that the member can be relied on.
    fn is_known(&self, member: u64) -> bool {
        let known = self.known();
        known.is_checked(member) && known.is_synced(member)
    }

    /// Makes sure that the cluster is the one that was `seen`, and remembers how far it has come.
    fn notice(&self, seen: Option<&Header>, now: Header) -> Result<(), Error> {
        if let Some(error) = seen.and_then(|seen| checks::change(seen, &now)) {
            return Err(error);
        }
        let known = &mut self.known().seen;
        *known = Some(known.map_or(now, |known| Header {
            revision: known.revision.max(now.revision),
            term: known.term.max(now.term),
            ..known
        }));
        Ok(())
    }

    /// Makes sure that this server can be relied on, and that there is a token for it.
    fn prepare(&mut self, share: &Deadline) -> Result<(), Trouble> {
        let known = self.known();
        let member = known.members[self.at];
        let is_fit = member.is_some_and(|member| known.is_checked(member));
        drop(known);
        if !is_fit {
            self.check(share)?;
        }
        if self.store.login.is_some() && self.known().token == Token::Unasked {
            self.authenticate(share)?;
        }
        let known = self.known();
        let due = known.members[self.at].filter(|member| !known.is_synced(*member));
        drop(known);
        if let Some(member) = due {
            self.check_syncs(member, share)?;
            self.known().synced.insert(member, Stopwatch::start());
        }
        Ok(())
    }

    /// Asks the server for its version, its part in the cluster, and alarms.
    fn check(&mut self, share: &Deadline) -> Result<(), Trouble> {
        let seen = self.known().seen;
        let status = match self.authorized(&Question::status(), share) {
            Ok(answer) => Status::of(&answer).map_err(strange)?,
            // Some versions tell it to users with the role root alone.
            Err(Trouble::Final(Error::Denied(_))) => self.visible_status(share)?,
            Err(trouble) => return Err(trouble),
        };
        // It tells how far this member has come, which may be less far than others.
        let seen = seen.map(|seen| Header { cluster: seen.cluster, ..status.header });
        let change = seen.and_then(|seen| checks::change(&seen, &status.header));
        if let Some(error) = change.or_else(|| status.refusal()) {
            return Err(Trouble::Final(error));
        }
        if status.is_learner {
            let problem = LEARNER.to_owned();
            return Err(Trouble::Elsewhere(Error::Unreachable { problem, source: None }));
        }
        if status.depends_on_members() {
            let members = self.authorized(&Question::members(), share)?;
            let has_users = self.store.login.is_some();
            if let Some(error) = status.refusal_among(&members, has_users) {
                return Err(Trouble::Final(error));
            }
        }
        let (member, mut known) = (status.header.member, self.known());
        known.members[self.at] = Some(member);
        known.checked.insert(member, Stopwatch::start());
        Ok(())
    }

    /// The status of a server as far as each user sees it. A learner refuses to read, and what a
    /// server with the alarm CORRUPT refuses is a write.
    fn visible_status(&mut self, share: &Deadline) -> Result<Status, Trouble> {
        let answer = self.authorized(&Question::read(&[self.full("store")]), share)?;
        let header = Header::of(&answer).map_err(strange)?;
        let url = format!("{}/version", self.store.servers[self.at].url);
        let reply = http::send(&self.agent, &url, None, None, share.left());
        let reply = reply.map_err(Refusal::from)?;
        let json: Value = serde_json::from_str(&reply.text).unwrap_or_default();
        match json["etcdserver"].as_str() {
            Some(version) => {
                let (version, errors) = (version.to_owned(), Vec::new());
                Ok(Status { header, version, is_learner: false, errors })
            }
            None => Err(Trouble::Final(Error::problem(checks::HIDDEN))),
        }
    }

    /// Looks whether the `member` syncs its log, as far as that can be told.
    ///
    /// What it has written since its start mostly tells. If not, it is tried.
    ///
    /// A member may answer before its own sync is done, where others have made a majority. But it
    /// begins with the next entries of its log only after that, so two transactions are tried.
    fn check_syncs(&mut self, member: u64, share: &Deadline) -> Result<(), Trouble> {
        let nothing = Question::nothing(&self.full("nothing"));
        let log = self.log(member, share)?;
        let Some(before) = log.filter(|log| !log.is_synced()) else { return Ok(()) };
        for _ in 0..2 {
            match self.authorized(&nothing, share) {
                // Another one may answer before this one has written it.
                Ok(answer) if Header::of(&answer).map_err(strange)?.member != member => {
                    return Err(several());
                }
                Ok(_) => {}
                // The user may not write, or the cluster is full.
                Err(Trouble::Final(_)) => return Ok(()),
                Err(trouble) => return Err(trouble),
            }
            if self.log(member, share)?.is_none_or(|now| now.is_other_than(&before)) {
                return Ok(());
            }
        }
        Err(Trouble::Final(Error::problem(checks::NO_SYNC)))
    }

    /// What the `member` tells of its log, if it does.
    fn log(&self, member: u64, share: &Deadline) -> Result<Option<Log>, Trouble> {
        let url = format!("{}/metrics", self.store.servers[self.at].url);
        // What serves this may be something else than etcd.
        let reply = http::send(&self.agent, &url, None, None, share.left() / 4);
        let Ok(metrics) = reply.map(|reply| reply.text) else { return Ok(None) };
        if checks::is_of_another(&metrics, member) {
            return Err(several());
        }
        Ok(Log::of(&metrics))
    }

    /// Asks the server with the token, and with another one if that is refused.
    fn authorized(&mut self, question: &Question, share: &Deadline) -> Result<Value, Trouble> {
        let token = self.known().token.clone();
        let refusal = match self.exchange(question, &token, share) {
            Ok(answer) => return Ok(answer),
            Err(refusal) => refusal,
        };
        let silence = match refusal {
            Refusal::Token(said) if self.store.login.is_none() => {
                let problem = "it wants to know a user; name one in the address, with a password";
                return Err(Trouble::Final(because(problem, said)));
            }
            Refusal::Token(_) => None,
            // Several versions close the connection without a word where they know the token no
            // more. Others say so.
            Refusal::Silent(error) if self.store.login.is_some() => Some(error),
            refusal => return Err(refusal.into()),
        };
        // Another call may have got one meanwhile.
        let mut known = self.known();
        if known.token == token {
            known.token = Token::Unasked;
        }
        let is_due = known.token == Token::Unasked;
        drop(known);
        if let Some(error) = silence {
            // The next call logs in. A write may have been made, and is not sent again here.
            if question.is_write || share.left() < share.timeout / 2 {
                return Err(Trouble::Unknown(error));
            }
            match if is_due { self.authenticate(share) } else { Ok(()) } {
                Ok(()) => {}
                Err(Trouble::Final(error)) => return Err(Trouble::Final(error)),
                Err(_) => return Err(Trouble::Unknown(error)),
            }
        } else if is_due {
            self.authenticate(share)?;
        }
        let token = self.known().token.clone();
        Ok(self.exchange(question, &token, share)?)
    }

    /// Gets a token for the user.
    fn authenticate(&mut self, share: &Deadline) -> Result<(), Trouble> {
        let Some(Login { user, password }) = self.store.login.as_deref() else { return Ok(()) };
        let question = Question::token(user, password);
        let token = match self.exchange(&question, &Token::Needless, share) {
            Ok(answer) => {
                let token = answer["token"].as_str().map(str::to_owned);
                Token::Given(token.ok_or_else(|| strange("its answer has no token"))?)
            }
            Err(Refusal::NoUsers) => Token::Needless,
            Err(refusal) => return Err(refusal.into()),
        };
        self.known().token = token;
        Ok(())
    }

    fn exchange(
        &mut self,
        question: &Question,
        token: &Token,
        share: &Deadline,
    ) -> Result<Value, Refusal> {
        let url = format!("{}{}", self.store.servers[self.at].url, question.path);
        let token = if let Token::Given(token) = token { Some(token.as_str()) } else { None };
        let body = Some(question.body.as_str());
        let reply = http::send(&self.agent, &url, body, token, share.left())?;
        self.told = reply.date.map(|date| (date, Stopwatch::start()));
        let password = self.store.login.as_deref().map(|login| login.password.as_str());
        meaning::read(&reply, &[token.unwrap_or_default(), password.unwrap_or_default()])
    }

    fn full(&self, key: &str) -> String {
        format!("{}/{key}", self.store.folder)
    }

    fn known(&self) -> MutexGuard<'a, Known> {
        lock(&self.store.known)
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

impl Session for Conversation<'_> {
    fn read(&mut self, keys: &[&str]) -> Result<Vec<Option<Entry>>, Error> {
        let mut found = Vec::with_capacity(keys.len());
        for keys in keys.chunks(MOST_KEYS) {
            let keys: Vec<String> = keys.iter().map(|key| self.full(key)).collect();
            let question = Question::read(&keys);
            found.extend(self.ask(&question, |answer| answers::values(answer, &keys))?);
        }
        Ok(found)
    }

    fn list(&mut self, folder: &str) -> Result<Vec<(String, Entry)>, Error> {
        let folder = format!("{}/", self.full(folder));
        let (mut listed, mut last): (Vec<(String, Entry)>, Option<String>) = (Vec::new(), None);
        loop {
            let question = Question::list(&folder, last.as_deref(), PAGE);
            let (found, is_more) = self.ask(&question, |answer| {
                let (found, is_more) = answers::page(answer)?;
                // In order, so that there is an end.
                let before = [last.as_ref().unwrap_or(&folder)];
                let keys = before.into_iter().chain(found.iter().map(|(key, _)| key));
                let is_its = found.iter().all(|(key, _)| key.starts_with(&folder));
                if !keys.is_sorted_by(|one, other| one < other) || !is_its {
                    return Err("its answer has other keys than it was asked for");
                }
                Ok((found, is_more))
            })?;
            let Some((key, _)) = found.last() else { return Ok(listed) };
            last = Some(key.clone());
            listed.extend(found.into_iter().filter_map(|(key, entry)| {
                let name = &key[folder.len()..];
                (!name.contains('/')).then(|| (name.to_owned(), entry))
            }));
            if !is_more {
                return Ok(listed);
            }
        }
    }

    fn commit(&mut self, changes: &[Change<'_>]) -> Result<bool, Error> {
        let full = changes.iter().map(|change| (self.full(change.key), change));
        let question = Question::commit(full);
        let result =
            self.ask(&question, |answer| Ok(answer["succeeded"].as_bool().unwrap_or(false)));
        match result {
            Err(Error::Full(cause)) => self.after_full(changes, cause),
            result => result,
        }
    }

    fn now(&mut self) -> Result<i64, Error> {
        if self.told.is_none() {
            self.read(&["store"])?;
        }
        let Some((then, since)) = &self.told else {
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

impl Trouble {
    fn error(self) -> Error {
        match self {
            Trouble::Elsewhere(error) | Trouble::Unknown(error) | Trouble::Final(error) => error,
        }
    }
}

impl Known {
    fn is_checked(&self, member: u64) -> bool {
        self.checked.get(&member).is_some_and(|since| since.elapsed() < FIT)
    }

    fn is_synced(&self, member: u64) -> bool {
        self.synced.get(&member).is_some_and(|since| since.elapsed() < SYNCED)
    }
}

impl From<Silence> for Refusal {
    fn from(silence: Silence) -> Refusal {
        let Silence { error, is_unsent } = silence;
        if is_unsent { Refusal::Elsewhere(error) } else { Refusal::Silent(error) }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        match refusal {
            Refusal::Token(said) => {
                let problem = "it refuses the token that it has just given; see that its members \
                               agree on users"
                    .to_owned();
                Trouble::Elsewhere(Error::Unreachable { problem, source: Some(said.into()) })
            }
            Refusal::NoUsers => Trouble::Final(Error::problem("it has no users")),
            Refusal::Elsewhere(error) => Trouble::Elsewhere(error),
            Refusal::Silent(error) | Refusal::Unknown(error) => Trouble::Unknown(error),
            Refusal::Final(error) => Trouble::Final(error),
        }
    }
}

fn strange(bad: Bad) -> Trouble {
    Trouble::Unknown(Error::problem(format!("{bad}; see the address")))
}

/// The trouble where a member answers that cannot be looked at.
fn several() -> Trouble {
    Trouble::Elsewhere(Error::problem(checks::SEVERAL))
}

fn because(problem: &str, said: String) -> Error {
    Error::Unusable { problem: problem.to_owned(), source: Some(said.into()) }
}

/// The error of a write of which it is unknown whether it was made.
fn unknown(error: Error) -> Error {
    match error {
        Error::Unusable { problem, source } => Error::Unreachable { problem, source },
        error => error,
    }
}
