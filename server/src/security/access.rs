//! Permissions by token. Tokens come from a file, from tinyid's table, and from `--admin-token`.
//!
//! Tokens are looked up by a hash with a random key and then compared in constant time, so that the
//! time of an answer does not reveal how much of a guess was right. No token is logged.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use serde::Deserialize;
use subtle::ConstantTimeEq;

use crate::security::secret::{Secret, may_be_token, token_problem, without_the_line};

/// The content of a token file.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tokens {
    /// Tags that need no token.
    #[serde(default)]
    public: Vec<Pattern>,
    /// Series that need no token.
    #[serde(default)]
    public_series: Vec<Pattern>,
    /// Pools of worker ids that need no token.
    #[serde(default)]
    public_pools: Vec<Pattern>,
    /// Whether time-ordered ids need no token.
    #[serde(default)]
    public_uids: bool,
    #[serde(default)]
    token: Vec<Grant>,
}

/// The permissions of one token.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [[token]]")]
struct Grant {
    token: String,
    /// The tags that it may take from.
    #[serde(default)]
    tags: Vec<Pattern>,
    /// The series that it may take from.
    #[serde(default)]
    series: Vec<Pattern>,
    /// The pools that it may lend worker ids from.
    #[serde(default)]
    pools: Vec<Pattern>,
    /// Whether the token may create tags and series, and see all of them.
    #[serde(default)]
    admin: bool,
    role: Option<Role>,
}

/// A role for tokens that get no ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    /// May read `/metrics` and nothing else.
    Metrics,
}

/// A pattern of names of tags, series or pools.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
enum Pattern {
    /// The one of this name.
    Name(String),
    /// All with this prefix.
    Prefix(String),
}

impl TryFrom<String> for Pattern {
    type Error = String;

    /// Reads a pattern of the token file: a `*` at the end stands for any rest of a name.
    fn try_from(text: String) -> Result<Pattern, String> {
        match text.split_once('*') {
            None => Ok(Pattern::Name(text)),
            Some((prefix, "")) => Ok(Pattern::Prefix(prefix.to_owned())),
            Some(_) => {
                let shown = if may_be_token(&text) { "a pattern" } else { &format!("{text:?}") };
                Err(format!(
                    "{shown} has a * before its end; a * stands for any rest of a name, and is \
                     the last character"
                ))
            }
        }
    }
}

impl Pattern {
    fn matches(&self, asked: &str) -> bool {
        match self {
            Pattern::Name(name) => name == asked,
            Pattern::Prefix(prefix) => asked.starts_with(prefix.as_str()),
        }
    }
}

/// What a request needs permission for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Permission<'a> {
    Uids,
    Tag(&'a str),
    /// Taking numbers of this series, and seeing what it is.
    Series(&'a str),
    /// Lending worker ids from this pool.
    Pool(&'a str),
    /// Reading `/metrics`.
    Metrics,
    Admin,
}

/// Why a request is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    NoToken,
    UnknownToken,
    /// The token is valid but lacks this permission.
    NotAllowed,
}

/// The tokens in effect.
pub(crate) struct Access {
    /// Whether no tokens are configured, so that every request is permitted.
    is_open: bool,
    /// The latest tokens of each source.
    sources: Mutex<Sources>,
    /// The token of `--admin-token`.
    admin: Option<Grant>,
    rules: RwLock<Rules>,
}

#[derive(Default)]
struct Sources {
    file: Tokens,
    /// tinyid's pairs of token and tag.
    table: Vec<(String, String)>,
}

#[derive(Default)]
struct Rules {
    public: Vec<Pattern>,
    public_series: Vec<Pattern>,
    public_pools: Vec<Pattern>,
    public_uids: bool,
    hasher: RandomState,
    grants: HashMap<u64, Vec<Grant>>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("is_open", &self.is_open).finish_non_exhaustive()
    }
}

impl Tokens {
    pub(crate) fn read(path: &Path) -> Result<Tokens, String> {
        let place = path.display();
        let text = fs::read_to_string(path).map_err(|error| format!("{place}: {error}"))?;
        let tokens: Tokens = toml::from_str(&text)
            .map_err(|error| format!("{place}: {}", without_the_line(&text, &error)))?;
        // An empty file is usually one that is being written.
        let public = [&tokens.public, &tokens.public_series, &tokens.public_pools];
        let is_private = public.iter().all(|names| names.is_empty()) && !tokens.public_uids;
        if tokens.token.is_empty() && is_private {
            return Err(format!("{place}: it is empty; give it a [[token]]"));
        }
        for (grant, number) in tokens.token.iter().zip(1..) {
            if let Some(problem) = grant.problem() {
                return Err(format!("{place}: the {number}. [[token]]: {problem}"));
            }
        }
        Ok(tokens)
    }
}

impl Access {
    /// If `is_open`, everybody may do everything. `admin` is the token of `--admin-token`.
    pub(crate) fn new(is_open: bool, admin: Option<Secret>) -> Access {
        let admin = admin.map(|Secret(token)| {
            let all = vec![Pattern::Prefix(String::new())];
            Grant {
                token,
                tags: all.clone(),
                series: all.clone(),
                pools: all,
                admin: true,
                role: None,
            }
        });
        let (sources, rules) = (Mutex::default(), RwLock::default());
        Access { is_open, sources, admin, rules }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Puts the tokens of a file into effect, in addition to the table's.
    pub(crate) fn set_file(&self, file: Tokens) {
        self.set(|sources| sources.file = file);
    }

    /// Puts tinyid's pairs of token and tag into effect, in addition to the file's tokens.
    pub(crate) fn set_table(&self, table: Vec<(String, String)>) {
        self.set(|sources| sources.table = table);
    }

    fn set(&self, change: impl FnOnce(&mut Sources)) {
        // The lock is held until the rules are replaced, so that older rules never replace newer
        // ones.
        let sources = &mut *self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        change(sources);
        let Sources { file, table } = sources;
        let mut rules = Rules {
            public: file.public.clone(),
            public_series: file.public_series.clone(),
            public_pools: file.public_pools.clone(),
            public_uids: file.public_uids,
            ..Rules::default()
        };
        for grant in file.token.iter().chain(&self.admin) {
            rules.add(grant.clone());
        }
        for (token, tag) in &*table {
            // tinyid treats a star as an ordinary character.
            let tags = vec![Pattern::Name(tag.clone())];
            let (token, series, pools) = (token.clone(), Vec::new(), Vec::new());
            rules.add(Grant { token, tags, series, pools, admin: false, role: None });
        }
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    pub(crate) fn check(
        &self,
        token: Option<&[u8]>,
        permission: Permission<'_>,
    ) -> Result<(), Denied> {
        if self.is_open {
            return Ok(());
        }
        self.rules.read().unwrap_or_else(PoisonError::into_inner).check(token, permission)
    }
}

impl Access {
    /// Whether a token allows anything at all.
    pub(crate) fn is_valid_token(&self, token: &[u8]) -> bool {
        let asked = self.check(Some(token), Permission::Admin);
        !matches!(asked, Err(Denied::UnknownToken))
    }
}

impl Rules {
    fn add(&mut self, grant: Grant) {
        // An empty token is not valid in an HTTP header.
        if !grant.token.is_empty() {
            let hash = self.hasher.hash_one(grant.token.as_bytes());
            self.grants.entry(hash).or_default().push(grant);
        }
    }

    fn check(&self, token: Option<&[u8]>, permission: Permission<'_>) -> Result<(), Denied> {
        let is_public = match permission {
            Permission::Uids => self.public_uids,
            Permission::Tag(tag) => has(&self.public, tag),
            Permission::Series(series) => has(&self.public_series, series),
            Permission::Pool(pool) => has(&self.public_pools, pool),
            Permission::Metrics | Permission::Admin => false,
        };
        if is_public {
            return Ok(());
        }
        let token = token.ok_or(Denied::NoToken)?;
        let found = self.grants.get(&self.hasher.hash_one(token)).map_or(&[][..], Vec::as_slice);
        let mut answer = Err(Denied::UnknownToken);
        // A token of tinyid's table has a grant for each tag.
        for grant in found {
            if bool::from(grant.token.as_bytes().ct_eq(token)) {
                let allows = grant.allows(permission);
                answer = if allows || answer.is_ok() { Ok(()) } else { Err(Denied::NotAllowed) };
            }
        }
        answer
    }
}

impl Grant {
    fn allows(&self, permission: Permission<'_>) -> bool {
        match permission {
            Permission::Uids => self.role.is_none(),
            Permission::Tag(tag) => has(&self.tags, tag),
            Permission::Series(series) => has(&self.series, series),
            Permission::Pool(pool) => has(&self.pools, pool),
            Permission::Metrics => self.admin || self.role == Some(Role::Metrics),
            Permission::Admin => self.admin,
        }
    }

    /// Why the grant is invalid, if it is.
    fn problem(&self) -> Option<String> {
        if let Some(problem) = token_problem(&self.token) {
            return Some(format!("its token {problem}"));
        }
        let names = [&self.tags, &self.series, &self.pools];
        let allows_ids = self.admin || names.iter().any(|names| !names.is_empty());
        let problem = match self.role {
            None if !allows_ids => {
                "it allows nothing; give it tags, series, pools, admin = true or role = \
                 \"metrics\""
            }
            Some(Role::Metrics) if allows_ids => {
                "its role is metrics, which reads /metrics and nothing else; take tags, series, \
                 pools and admin out, or the role"
            }
            _ => return None,
        };
        Some(problem.to_owned())
    }
}

fn has(patterns: &[Pattern], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    const FILE: &str = r#"
        public = ["open"]
        [[token]]
        token = "0123456789abcdef-orders"
        tags = ["orders", "invoices"]
        [[token]]
        token = "0123456789abcdef-parts"
        tags = ["SO-*"]
        [[token]]
        token = "0123456789abcdef-admin"
        tags = ["*"]
        admin = true
        [[token]]
        token = "0123456789abcdef-metrics"
        role = "metrics"
    "#;

    fn access() -> Access {
        let admin = Secret("0123456789abcdef-option".to_owned());
        let access = Access::new(false, Some(admin));
        let table = [
            ("tiny", "test"),
            ("tiny", "test_odd"),
            ("other", "test"),
            ("", "test"),
            ("star", "*"),
            ("star", "SO-*"),
        ];
        let table = table.map(|(token, tag)| (token.to_owned(), tag.to_owned()));
        access.set_file(toml::from_str(FILE).unwrap());
        access.set_table(table.to_vec());
        access
    }

    #[test]
    fn a_token_allows_its_tags_alone() {
        let access = access();
        let orders: Option<&[u8]> = Some(b"0123456789abcdef-orders");
        assert_eq!(access.check(orders, Permission::Tag("orders")), Ok(()));
        assert_eq!(access.check(orders, Permission::Tag("invoices")), Ok(()));
        assert_eq!(access.check(orders, Permission::Uids), Ok(()));
        assert_eq!(access.check(orders, Permission::Tag("order")), Err(Denied::NotAllowed));
        assert_eq!(access.check(orders, Permission::Admin), Err(Denied::NotAllowed));
        let admin: Option<&[u8]> = Some(b"0123456789abcdef-admin");
        assert_eq!(access.check(admin, Permission::Admin), Ok(()));
        assert_eq!(access.check(admin, Permission::Tag("anything")), Ok(()));
    }

    #[test]
    fn a_star_stands_for_any_rest_of_a_name() {
        let access = access();
        let parts: Option<&[u8]> = Some(b"0123456789abcdef-parts");
        for (tag, expected) in [
            ("SO-1", Ok(())),
            ("SO-", Ok(())),
            ("SO-*", Ok(())),
            ("SO", Err(Denied::NotAllowed)),
            ("xSO-1", Err(Denied::NotAllowed)),
        ] {
            assert_eq!(access.check(parts, Permission::Tag(tag)), expected, "{tag}");
        }
        for wrong in ["*a", "a*b", "**"] {
            assert!(Pattern::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_role_metrics_reads_the_metrics_and_nothing_else() {
        let access = access();
        let token: Option<&[u8]> = Some(b"0123456789abcdef-metrics");
        assert_eq!(access.check(token, Permission::Metrics), Ok(()));
        for permission in
            [Permission::Uids, Permission::Tag("orders"), Permission::Tag("*"), Permission::Admin]
        {
            assert_eq!(access.check(token, permission), Err(Denied::NotAllowed), "{permission:?}");
        }
        let orders: Option<&[u8]> = Some(b"0123456789abcdef-orders");
        assert_eq!(access.check(orders, Permission::Metrics), Err(Denied::NotAllowed));
        assert_eq!(access.check(None, Permission::Metrics), Err(Denied::NoToken));
    }

    #[test]
    fn the_option_s_token_stays_whatever_is_read() {
        let access = access();
        access.set_file(Tokens::default());
        access.set_table(Vec::new());
        let token: Option<&[u8]> = Some(b"0123456789abcdef-option");
        for permission in
            [Permission::Uids, Permission::Tag("orders"), Permission::Metrics, Permission::Admin]
        {
            assert_eq!(access.check(token, permission), Ok(()), "{permission:?}");
        }
    }

    #[test]
    fn without_a_token_there_is_what_is_public() {
        let access = access();
        assert_eq!(access.check(None, Permission::Tag("open")), Ok(()));
        assert_eq!(access.check(None, Permission::Tag("orders")), Err(Denied::NoToken));
        assert_eq!(access.check(None, Permission::Uids), Err(Denied::NoToken));
        for token in [&b""[..], b"0123456789abcdef-order", b"*", b"0123456789abcdef-orders "] {
            assert_eq!(
                access.check(Some(token), Permission::Tag("orders")),
                Err(Denied::UnknownToken)
            );
        }
        assert_eq!(Access::new(true, None).check(None, Permission::Admin), Ok(()));
        // No token is valid until tokens are loaded.
        assert_eq!(
            Access::new(false, None).check(Some(b"x"), Permission::Uids),
            Err(Denied::UnknownToken)
        );
    }

    #[test]
    fn tinyids_table_has_a_row_for_each_tag() {
        let access = access();
        assert_eq!(access.check(Some(b"tiny"), Permission::Tag("test")), Ok(()));
        assert_eq!(access.check(Some(b"tiny"), Permission::Tag("test_odd")), Ok(()));
        assert_eq!(
            access.check(Some(b"other"), Permission::Tag("test_odd")),
            Err(Denied::NotAllowed)
        );
        // tinyid treats a star as an ordinary character.
        assert_eq!(access.check(Some(b"star"), Permission::Tag("*")), Ok(()));
        assert_eq!(access.check(Some(b"star"), Permission::Tag("SO-*")), Ok(()));
        assert_eq!(access.check(Some(b"star"), Permission::Tag("SO-1")), Err(Denied::NotAllowed));
    }
}
