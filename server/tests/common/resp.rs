//! A client of the Redis protocol that shows what it reads.

#![allow(dead_code, clippy::panic, clippy::unwrap_used)] // each test uses a part of it

use std::io::{BufRead, BufReader, Read, Write};

/// A connection to a server that speaks the protocol.
pub struct Client<S>(pub BufReader<S>);

impl<S: Read + Write> Client<S> {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.get_mut().write_all(bytes.as_ref()).unwrap();
    }

    /// The answer to a command, whose arguments are its words.
    pub fn ask(&mut self, command: &str) -> String {
        self.send(encoded(command));
        self.read()
    }

    pub fn read(&mut self) -> String {
        self.try_read().unwrap_or_else(|| panic!("no answer"))
    }

    /// One value: texts as `'..'`, lists as `[..]`, maps as `{..}`, other values as they are sent.
    pub fn try_read(&mut self) -> Option<String> {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line).ok()?;
        let line = String::from_utf8(line).unwrap();
        let line = line.strip_suffix("\r\n")?;
        let number = || line[1..].parse::<usize>().unwrap();
        let list = |client: &mut Self, count| {
            let values = (0..count).map(|_| client.try_read());
            Some(values.collect::<Option<Vec<_>>>()?.join(" "))
        };
        Some(match line.as_bytes()[0] {
            b'$' | b'=' if line == "$-1" => line.to_owned(),
            kind @ (b'$' | b'=') => {
                let mut bytes = vec![0; number() + 2];
                self.0.read_exact(&mut bytes).ok()?;
                assert!(bytes.ends_with(b"\r\n"), "{line} {}", bytes.escape_ascii());
                let text = bytes[..bytes.len() - 2].escape_ascii();
                if kind == b'=' { format!("={text}") } else { format!("'{text}'") }
            }
            b'*' if line == "*-1" => line.to_owned(),
            b'*' => format!("[{}]", list(self, number())?),
            b'~' => format!("~[{}]", list(self, number())?),
            b'%' => format!("{{{}}}", list(self, 2 * number())?),
            b'+' | b'-' | b':' | b'_' => line.to_owned(),
            _ => panic!("{line}"),
        })
    }

    /// Whether the connection ends here.
    pub fn is_over(&mut self) -> bool {
        // A reset ends it, too.
        self.0.read(&mut [0]).unwrap_or(0) == 0
    }
}

/// A command whose arguments are these words.
pub fn encoded(command: &str) -> Vec<u8> {
    let words: Vec<&str> = command.split(' ').collect();
    let mut bytes = Vec::new();
    write!(bytes, "*{}\r\n", words.len()).unwrap();
    for word in words {
        write!(bytes, "${}\r\n{word}\r\n", word.len()).unwrap();
    }
    bytes
}

pub fn number(answer: &str) -> u64 {
    let digits = answer.trim_start_matches(':').trim_matches('\'');
    digits.parse().unwrap_or_else(|_| panic!("{answer}"))
}

pub fn numbers(answer: &str) -> Vec<u64> {
    let inside = answer.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inside.unwrap_or(answer).split(' ').map(number).collect()
}
