//! The commands that look for tags, as health checks and tools for Redis send them.

use crate::app::App;
use crate::commands::Command;
use crate::http::numbers;
use crate::http::take_failure::TakeFailure;
use crate::resp::codec::Arguments;
use crate::resp::protocol_error::escaped;
use crate::resp::refusal::Refusal;
use crate::resp::reply::Reply;
use crate::resp::request::{Request, text};
use crate::security::access::Permission;

/// What `TYPE` calls a tag. Tools take it for a type of a module, and ask for no value.
const TYPE: &str = "tag";

/// How many tags a step of `SCAN` looks at, unless it says otherwise.
const STEP: usize = 10;

/// Answers a command that looks for tags. It may wait for the database.
pub(crate) async fn answer(
    app: &'static App,
    asked: Request<'_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    let key = asked.arguments.get(1).unwrap_or_default();
    match asked.command {
        Command::Exists => {
            let mut there = 0;
            for key in asked.arguments.from(1) {
                there += u64::from(is_there(app, asked, key).await?);
            }
            reply.integer(there);
        }
        Command::Type => {
            reply.simple(if is_there(app, asked, key).await? { TYPE } else { "none" });
        }
        Command::Scan => scan(app, asked, reply)?,
        _ => reply.integer(used(app, asked.token).len()),
    }
    Ok(())
}

/// The tags that this process has used, in their order, if the client may take from them.
pub(crate) fn used(app: &App, token: Option<&[u8]>) -> Vec<String> {
    let tags = app.used_tags().into_iter().map(|tag| tag.tag().to_owned());
    tags.filter(|tag| app.access.check(token, Permission::Tag(tag)).is_ok()).collect()
}

/// Whether there is such a tag. Only one that was not used here is looked for in the database.
async fn is_there(app: &'static App, asked: Request<'_>, key: &[u8]) -> Result<bool, Refusal> {
    let tag = text("a tag", key)?;
    let table = app.options.table;
    if !numbers::is_tag(table, tag) {
        return Ok(false);
    }
    asked.check(app, Permission::Tag(tag))?;
    if app.used_tag(tag).is_some() {
        return Ok(true);
    }
    let (store, tag) = (app.tags()?.store.clone(), tag.to_owned());
    let found = numbers::one_list(app, move || table.find(&store, &tag)).await?;
    found.map(|(record, _turn)| record.is_some()).map_err(|error| TakeFailure::Source(error).into())
}

/// `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`. The cursor is a place in the list.
fn scan(app: &App, asked: Request<'_>, reply: &mut Reply) -> Result<(), Refusal> {
    let cursor = asked.arguments.get(1).unwrap_or_default();
    let Some(start) = number(cursor) else {
        return Err(Refusal::error(format!(
            "invalid cursor: '{}'; begin with 0, and go on with what the answer says",
            escaped(cursor)
        )));
    };
    let Wanted { pattern, count, is_of_tags } = Wanted::read(asked.arguments)?;
    let tags = used(app, asked.token);
    let end = start.saturating_add(count).min(tags.len());
    let seen = tags.get(start..end).unwrap_or_default().iter().filter(|tag| {
        is_of_tags && pattern.is_none_or(|pattern| is_match(pattern, tag.as_bytes()))
    });
    let seen: Vec<&String> = seen.collect();
    reply.array(2);
    let next = if end < tags.len() { end } else { 0 };
    reply.bulk(next.to_string().as_bytes());
    reply.array(seen.len());
    for tag in seen {
        reply.bulk(tag.as_bytes());
    }
    Ok(())
}

/// What a step of `SCAN` is to show.
struct Wanted<'a> {
    pattern: Option<&'a [u8]>,
    count: usize,
    is_of_tags: bool,
}

impl<'a> Wanted<'a> {
    fn read(arguments: Arguments<'a>) -> Result<Wanted<'a>, Refusal> {
        let mut wanted = Wanted { pattern: None, count: STEP, is_of_tags: true };
        let mut options = arguments.from(2);
        while let Some(word) = options.next() {
            let advice = "SCAN has MATCH pattern, COUNT count and TYPE type";
            let value = options.next().ok_or_else(|| Refusal::argument(word, advice))?;
            match word.to_ascii_uppercase().as_slice() {
                b"MATCH" if value.iter().any(|byte| b"[\\".contains(byte)) => {
                    return Err(Refusal::argument(value, "a pattern here has * and ? alone"));
                }
                b"MATCH" => wanted.pattern = Some(value),
                b"COUNT" => {
                    let advice = "a count is a whole number from 1 on";
                    let count = number(value).filter(|count| *count > 0);
                    wanted.count = count.ok_or_else(|| Refusal::argument(value, advice))?;
                }
                b"TYPE" => wanted.is_of_tags = value.eq_ignore_ascii_case(TYPE.as_bytes()),
                _ => return Err(Refusal::argument(word, advice)),
            }
        }
        Ok(wanted)
    }
}

fn number(bytes: &[u8]) -> Option<usize> {
    let is_number = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(bytes).ok().filter(|_| is_number)?.parse().ok()
}

/// Whether `text` has the form of `pattern`, in which `*` is any text and `?` any byte.
pub(crate) fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where the last `*` is, and what of the text it covers.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[from] => (at, from) = (at + 1, from + 1),
            _ => match &mut star {
                Some((place, covered)) => {
                    *covered += 1;
                    (at, from) = (*place + 1, *covered);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::is_match;

    #[test]
    fn a_pattern_has_stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "orders", true),
            ("orders", "orders", true),
            ("order?", "orders", true),
            ("order??", "orders", false),
            ("o*s", "orders", true),
            ("*rd*", "orders", true),
            ("*a*b*c", "xaxbxbxc", true),
            ("*a*b*c", "xaxbxbxcd", false),
            ("orders", "orders1", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(is_match(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }
}
