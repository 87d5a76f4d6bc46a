//! What clients of Redis send to the service. However it is cut, the same commands are read. What
//! is read is read again as it is written. Each command has one answer, in the protocol's form.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use uidring_fuzz::folder;
use uidring_server::fuzzing::{Service, command, commands};

/// The most bytes of a command, and that of the service.
const MOST: usize = 512;

thread_local! {
    static SERVICE: OnceLock<Service> = const { OnceLock::new() };
}

fuzz_target!(|data: &[u8]| {
    // The first bytes say where the others are cut.
    let Some((cuts, bytes)) = data.split_at_checked(4) else { return };
    let mut cuts: Vec<usize> = cuts.iter().map(|&cut| usize::from(cut)).collect();
    cuts.sort_unstable();
    let (all, error) = commands(bytes, MOST, &[]);
    assert_eq!(commands(bytes, MOST, &cuts), (all.clone(), error.clone()), "cut at {cuts:?}");
    let each: Vec<usize> = (0..bytes.len()).collect();
    assert_eq!(commands(bytes, MOST, &each), (all.clone(), error.clone()), "byte by byte");
    for one in &all {
        let written = command(one);
        // Other forms of the same command may be shorter.
        if written.len() <= MOST {
            assert_eq!(commands(&written, MOST, &[]), (vec![one.clone()], None));
        }
    }
    SERVICE.with(|service| {
        let answers = service.get_or_init(start).answer_resp(bytes);
        let (mut rest, mut count) = (&answers[..], 0);
        while !rest.is_empty() {
            rest = behind(rest).unwrap_or_else(|| panic!("{}", answers.escape_ascii()));
            count += 1;
        }
        let asked = all.len() + usize::from(error.is_some());
        let ends = |one: &Vec<Vec<u8>>| {
            let is = |name: &str| one[0].eq_ignore_ascii_case(name.as_bytes());
            let is_tls = one[0].starts_with(b"\x16\x03");
            is_tls || is("POST") || is("HOST:") || (is("QUIT") && one.len() == 1)
        };
        match all.iter().position(ends) {
            None => assert_eq!(count, asked, "{}", answers.escape_ascii()),
            // Nothing behind it is answered.
            Some(last) => assert_eq!(count, last + 1, "{}", answers.escape_ascii()),
        }
    });
});

fn start() -> Service {
    let file = format!("--db={}", folder().join("ids.db").display());
    let most = format!("--max-body={MOST}");
    let service = Service::start(&[&file, "--listen=127.0.0.1:8080", &most]).unwrap();
    let created = service.answer(
        b"PUT /v1/tags/orders HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
          content-length: 2\r\n\r\n{}",
    );
    assert!(created.starts_with(b"HTTP/1.1 201"), "{}", created.escape_ascii());
    service
}

/// What is behind the first value of `bytes`.
fn behind(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    let (line, mut rest) = (&bytes[1..end], &bytes[end + 2..]);
    let number = || std::str::from_utf8(line).ok()?.parse::<i64>().ok();
    let values = match bytes[0] {
        b'+' | b'-' => return Some(rest),
        b':' => return number().map(|_| rest),
        b'_' => return line.is_empty().then_some(rest),
        b'$' | b'=' => match usize::try_from(number()?) {
            Err(_) => return (number() == Some(-1)).then_some(rest),
            Ok(length) => return rest.get(length..)?.strip_prefix(b"\r\n"),
        },
        b'*' if number() == Some(-1) => return Some(rest),
        b'*' | b'~' => number()?,
        b'%' => 2 * number()?,
        _ => return None,
    };
    for _ in 0..values {
        rest = behind(rest)?;
    }
    Some(rest)
}
