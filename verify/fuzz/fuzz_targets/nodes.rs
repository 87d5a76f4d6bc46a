//! What servers of ZooKeeper send: frames, nodes of Leaf's servers, and what they say of
//! themselves. A worker id is Leaf's and begins behind the time in its node, and no error shows the
//! password.

#![no_main]

use std::error::Error;
use std::io::{Read, Write};
use std::iter::successors;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use uidring::registry::{RegistryAdmin, Request, WorkerRegistry};
use uidring::segment::SegmentSource;
use uidring::{Layout, Store};
use uidring_fuzz::number;

const PASSWORD: &str = "Q7zX9kW3";
/// The node that is made, which is not there before.
const MADE: &str = "h:80-0000000999";
const NOW: u64 = 500_000_000_000;

/// What the server has, and answers with.
#[derive(Default)]
struct World {
    names: Vec<String>,
    data: Vec<u8>,
    version: i32,
    /// The codes of the next answers; 0 after these.
    codes: Vec<i32>,
    /// Sent in place of an answer when none of these codes is left, and the end of the connection.
    garbage: Option<Vec<u8>>,
    /// What it says to a four-letter word.
    words: Vec<u8>,
}

static WORLD: Mutex<Option<World>> = Mutex::new(None);

fuzz_target!(|data: &[u8]| {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    let address = *ADDRESS.get_or_init(serve);
    let _ = check(&mut Unstructured::new(data), address);
});

fn check(input: &mut Unstructured<'_>, address: SocketAddr) -> Result<()> {
    let call = input.int_in_range(0..=7)?;
    let mut world = World { version: input.arbitrary()?, ..World::default() };
    let mut numbers = Vec::new();
    for _ in 0..input.int_in_range(0..=3)? {
        let (name, number) = name(input)?;
        world.names.push(name);
        numbers.extend(number);
    }
    let time =
        i64::try_from(NOW).unwrap() + 1_288_834_974_657 + number(input)?.clamp(-9_999, 9_999);
    world.data = match input.int_in_range(0..=7)? {
        0 => text(input)?,
        1 => format!("{{\"ip\":1,\"timestamp\":{}}}", number(input)?).into_bytes(),
        2 => format!("{{\"version\":1,\"id\":\"x\",\"next\":{}}}", number(input)?).into_bytes(),
        kind => {
            let mark =
                if kind % 2 == 0 { format!("\n{}", " \t".repeat(32)) } else { String::new() };
            format!("{{\"ip\":\"h\",\"port\":\"80\",\"timestamp\":{time}}}{mark}").into_bytes()
        }
    };
    for _ in 0..input.int_in_range(0..=4)? {
        let known = [0, 0, -101, -102, -103, -110, -112, -115, -119, -124, -125, -127];
        world.codes.push(if input.ratio(1, 8)? {
            input.arbitrary()?
        } else {
            *input.choose(&known)?
        });
    }
    if input.ratio(1, 3)? {
        world.garbage = Some(text(input)?);
    }
    world.words = match input.int_in_range(0..=3)? {
        0 => text(input)?,
        1 => format!("Mode: leader\nZxid: 0x{:x}\n", number(input)?).into_bytes(),
        _ => format!(
            "zk_cnt_fsynctime\t{}\nzk_cnt_sync_processor_queue_flush_time_ms\t{}\n",
            number(input)?,
            number(input)?
        )
        .into_bytes(),
    };
    let data = world.data.clone();
    *WORLD.lock().unwrap() = Some(world);

    let store = format!("zookeeper://me:{PASSWORD}@{address}/ids?admin=0");
    let store = Store::open(store).unwrap().with_timeout(Duration::from_millis(50));
    match call {
        0 => store.segments().unwrap().tags().map_or_else(|error| hides(&error), drop),
        1 => store.registry().unwrap().workers().map_or_else(|error| hides(&error), drop),
        _ => {
            let mut worker = store.leaf_worker("orders", "h:80").unwrap();
            let request = Request::new(Layout::TWITTER, NOW, NOW + 3_000);
            match worker.assign(&request) {
                Err(error) => hides(&error),
                Ok(lease) => {
                    assert!((1..=1_023).contains(&lease.worker), "{lease:?}");
                    assert!(NOW <= lease.first && lease.first <= lease.last, "{lease:?}");
                    assert!(lease.last <= Layout::TWITTER.max_tick(), "{lease:?}");
                    if numbers.contains(&lease.worker) {
                        let node: serde_json::Value = serde_json::from_slice(&data).unwrap();
                        let used = node["timestamp"].as_i64().unwrap();
                        let used = i128::from(used) - 1_288_834_974_657;
                        assert!(i128::from(lease.first) > used, "{lease:?} {node}");
                    }
                }
            }
        }
    }
    Ok(())
}

fn hides(error: &(dyn Error + 'static)) {
    assert!(!format!("{error:?}").contains(PASSWORD), "{error:?}");
    let causes = successors(Some(error), |&error| error.source());
    causes.for_each(|error| assert!(!error.to_string().contains(PASSWORD), "{error}"));
}

/// Any bytes but the password.
fn text(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = input.int_in_range(0..=200)?;
    let bytes = input.bytes(usize::min(length, input.len()))?;
    let is_shown = bytes.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
    Ok(if is_shown { Vec::new() } else { bytes.to_vec() })
}

/// The name of a node, and its number if it is that of the server.
fn name(input: &mut Unstructured<'_>) -> Result<(String, Option<u64>)> {
    let number = number(input)?.unsigned_abs() % 2_000;
    let number = if MADE.ends_with(&number.to_string()) { 0 } else { number };
    Ok(match input.int_in_range(0..=5)? {
        0 => (String::from_utf8_lossy(&text(input)?).into_owned(), None),
        1 => (format!("g:80-{number:010}"), None),
        2 => (format!("h:80-{number}"), None),
        _ => (format!("h:80-{number:010}"), Some(number)),
    })
}

/// Starts the server.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that went away is none of the server's business. The next may be a word that
            // is asked while a session is open.
            thread::spawn(move || drop(answer(stream)));
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut is_first = true;
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        if length.is_ascii() && length[0].is_ascii_alphabetic() {
            let words = WORLD.lock().unwrap().as_ref().map(|world| world.words.clone());
            return stream.write_all(&words.unwrap_or_default());
        }
        let mut request = vec![0; u32::from_be_bytes(length).min(1 << 20) as usize];
        stream.read_exact(&mut request)?;
        let answer = if is_first {
            // A session without a time has expired.
            [&[0; 4][..], &4_000_i32.to_be_bytes(), &7_i64.to_be_bytes(), &[0; 5]].concat()
        } else if let Some(answer) = reply(&request) {
            answer
        } else {
            let world = WORLD.lock().unwrap();
            let garbage = world.as_ref().and_then(|world| world.garbage.clone());
            return stream.write_all(&garbage.unwrap_or_default());
        };
        is_first = false;
        let length = u32::try_from(answer.len()).unwrap().to_be_bytes();
        // At once, as the second part would wait for the client's word about the first.
        stream.write_all(&[&length[..], &answer].concat())?;
    }
}

/// The answer to a request; `None` for garbage.
fn reply(request: &[u8]) -> Option<Vec<u8>> {
    let mut world = WORLD.lock().unwrap();
    let world = world.as_mut()?;
    let number = request.get(..4)?;
    let operation = i32::from_be_bytes(request.get(4..8)?.try_into().ok()?);
    let is_auth = operation == 100;
    if !is_auth && world.codes.is_empty() && world.garbage.is_some() {
        return None;
    }
    let code = if is_auth || world.codes.is_empty() { 0 } else { world.codes.remove(0) };
    let mut answer = [number, &3_i64.to_be_bytes(), &code.to_be_bytes()].concat();
    let text = |text: &[u8]| [&u32::try_from(text.len()).unwrap().to_be_bytes()[..], text].concat();
    let version = world.version.to_be_bytes();
    // The times, the versions, the owner, two counts and the last change.
    let stat = [&[0; 32][..], &version, &[0; 3], &[9], &[0; 4], &[0; 8], &[0; 16]].concat();
    match operation {
        3 | 5 => answer.extend(stat),
        4 => answer.extend([text(&world.data), stat].concat()),
        1 => {
            let name = world.names.first().filter(|name| !name.starts_with("h:80-"));
            let name = name.map_or(MADE, String::as_str);
            answer.extend(text(format!("/snowflake/orders/forever/{name}").as_bytes()));
        }
        12 => {
            answer.extend(u32::try_from(world.names.len()).unwrap().to_be_bytes());
            answer.extend(world.names.iter().flat_map(|name| text(name.as_bytes())));
            answer.extend(stat);
        }
        9 => answer.extend(text(b"/ids")),
        _ => answer.extend(&world.data),
    }
    Some(answer)
}
