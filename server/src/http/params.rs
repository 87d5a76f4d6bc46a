//! Parameters of a query string or a form.

use std::borrow::Cow;
use std::time::SystemTime;

use crate::config::limits::{MAX_IDS, MAX_NEWEST};
use crate::http::problem::Problem;

/// A parameter's name and value.
pub(crate) type Param<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The value of `name`, the only permitted parameter.
pub(crate) fn only<'a>(query: &'a str, name: &str) -> Result<Option<Cow<'a, str>>, Problem> {
    let found = parse(query, &[name])?.pop();
    Ok(found.map(|(_, value)| value))
}

/// All parameters, each at most once. Unknown names are refused, because they are probably
/// misspelt.
pub(crate) fn parse<'a>(query: &'a str, names: &[&str]) -> Result<Vec<Param<'a>>, Problem> {
    let mut found: Vec<Param<'a>> = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if !names.contains(&&*name) {
            let there = names.join(", ");
            let problem = Problem::bad_request("no-such-parameter", "there is no such parameter");
            return Err(problem.detail(format!("the path has {there}")).value(&name));
        }
        if found.iter().any(|(one, _)| *one == name) {
            let problem = Problem::bad_request("parameter-twice", "a parameter is given twice");
            return Err(problem.value(&name));
        }
        found.push((name, value));
    }
    Ok(found)
}

/// The value of the first parameter called `name`. Leaf's and tinyid's servers use the first, too.
pub(crate) fn first<'a>(params: &'a [Param<'_>], name: &str) -> Option<&'a str> {
    params.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
}

/// The number of ids that the query asks for: its parameter `n`, or 1.
pub(crate) fn count(query: Option<&str>) -> Result<usize, Problem> {
    let Some(query) = query else { return Ok(1) };
    // Nearly all queries have this form.
    let plain = query.strip_prefix("n=").and_then(|text| number(text, MAX_IDS));
    if let Some(count) = plain {
        return Ok(usize::try_from(count).unwrap_or(1));
    }
    let Some(text) = only(query, "n")? else { return Ok(1) };
    let count = number(&text, MAX_IDS).ok_or_else(|| {
        Problem::bad_request("bad-count", "n is not a number of ids that can be given")
            .detail(format!("n is a whole number from 1 to {MAX_IDS}"))
            .value(&text)
    })?;
    Ok(usize::try_from(count).unwrap_or(1))
}

/// The times that a body names.
pub(crate) fn times(texts: &[String]) -> Result<Vec<SystemTime>, Problem> {
    if texts.is_empty() || texts.len() as u64 > MAX_IDS {
        let title = "so many ids cannot be given at once";
        return Err(Problem::bad_request("bad-count", title)
            .detail(format!("times has 1 to {MAX_IDS} times"))
            .value(&texts.len().to_string()));
    }
    let parse = |text: &String| {
        uidring_args::time(text).map_err(|problem| {
            Problem::bad_request("bad-time", "this is not a time").detail(problem).value(text)
        })
    };
    texts.iter().map(parse).collect()
}

/// How many of the newest the query asks for: its parameter `last`, or all.
pub(crate) fn last(query: Option<&str>) -> Result<Option<usize>, Problem> {
    let Some(text) = only(query.unwrap_or_default(), "last")? else { return Ok(None) };
    let last = number(&text, MAX_NEWEST).and_then(|last| usize::try_from(last).ok());
    match last {
        None => Err(Problem::bad_request("bad-last", "there is no list of this length")
            .detail(format!("last is a whole number from 1 to {MAX_NEWEST}"))
            .value(&text)),
        last => Ok(last),
    }
}

/// Parses a number from 1 to `most`. Only digits are allowed.
pub(crate) fn number(text: &str, most: u64) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number)?;
    (1..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_count_is_from_1_to_the_most() {
        assert_eq!(count(None).ok(), Some(1));
        assert_eq!(count(Some("")).ok(), Some(1));
        assert_eq!(count(Some("n=1")).ok(), Some(1));
        assert_eq!(count(Some("n=100000")).ok(), Some(100_000));
        assert_eq!(count(Some("n=0007")).ok(), Some(7));
        assert_eq!(count(Some("n=%37")).ok(), Some(7));
        for wrong in
            ["n=", "n", "n=0", "n=100001", "n=+1", "n=-1", "n=1.0", "n=1e3", "n=1&n=2", "m=1"]
        {
            assert!(count(Some(wrong)).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_query_is_a_count_or_a_problem(query in ".*") {
            if let Ok(count) = count(Some(&query)) {
                prop_assert!((1..=100_000).contains(&count));
            }
        }

        #[test]
        fn a_number_is_read_as_it_is(value in any::<u64>(), most in any::<u64>()) {
            let expected = (1..=most).contains(&value).then_some(value);
            prop_assert_eq!(number(&value.to_string(), most), expected);
            prop_assert_eq!(number(&format!("{value} "), most), None);
        }
    }
}
