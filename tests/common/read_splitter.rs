//! A proxy in front of a primary of MySQL or MariaDB and a replica, which answers queries.
#![allow(dead_code)] // each test program uses a part
#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use std::io::{Read, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Which queries the replica answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Those outside of transactions.
    Outside,
    /// All of them.
    All,
    /// All but those that lock rows.
    AllButLocks,
}

const CLIENT_SSL: u16 = 0x0800;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
/// To `COM_STMT_FETCH`: the commands about a statement that was prepared.
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_FETCH: u8 = 0x1c;
/// A statement that was prepared at the replica, in the number by which a client knows it.
const AT_REPLICA: u8 = 0x80;

/// The address of such a proxy in place of `url`, the primary's, whose user has no password. It
/// runs until the process ends.
pub fn split_reads(url: &str, replica: u16, split: Split) -> String {
    let (user, rest) = url.split_once('@').unwrap();
    let (primary, database) = rest.split_once('/').unwrap();
    let (listener, primary) = (TcpListener::bind("127.0.0.1:0").unwrap(), primary.to_owned());
    let address = format!("{user}@{}/{database}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            let primary = TcpStream::connect(&primary).unwrap();
            let replica = TcpStream::connect(("127.0.0.1", replica)).unwrap();
            // A client may go at any time.
            thread::spawn(move || serve(client?, primary, replica, split));
        }
    });
    address
}

fn serve(
    mut client: TcpStream,
    mut primary: TcpStream,
    mut replica: TcpStream,
    split: Split,
) -> Result<()> {
    [&client, &primary, &replica].iter().try_for_each(|stream| stream.set_nodelay(true))?;
    let mut greeting = packet(&mut primary)?;
    let version = greeting[5..].iter().position(|byte| *byte == 0).unwrap();
    let flags = 5 + version + 1 + 4 + 8 + 1;
    let without_tls = u16::from_le_bytes([greeting[flags], greeting[flags + 1]]) & !CLIENT_SSL;
    greeting[flags..flags + 2].copy_from_slice(&without_tls.to_le_bytes());
    client.write_all(&greeting)?;
    let response = packet(&mut client)?;
    log_in(&mut primary, &response, Some(&mut client))?;
    packet(&mut replica)?;
    log_in(&mut replica, &response, None)?;

    let is_prepared = Arc::new(AtomicBool::new(false));
    let answers = [
        answer(primary.try_clone()?, client.try_clone()?, Arc::default()),
        answer(replica.try_clone()?, client.try_clone()?, Arc::clone(&is_prepared)),
    ];
    let mut is_in_transaction = false;
    while let Ok(mut command) = packet(&mut client) {
        let text = String::from_utf8_lossy(&command[5..]).trim_start().to_ascii_uppercase();
        let is_plain = !text.contains("FOR UPDATE") && !text.contains("LOCK IN SHARE MODE");
        let goes_there = text.starts_with("SELECT")
            && match split {
                Split::Outside => !is_in_transaction,
                Split::All => true,
                Split::AllButLocks => is_plain,
            };
        let at_replica = match command[4] {
            COM_QUERY => {
                if text.starts_with("START TRANSACTION") || text.starts_with("BEGIN") {
                    is_in_transaction = true;
                } else if text.starts_with("COMMIT") || text.starts_with("ROLLBACK") {
                    is_in_transaction = false;
                }
                goes_there
            }
            COM_STMT_PREPARE => {
                is_prepared.store(goes_there, Ordering::SeqCst);
                goes_there
            }
            COM_STMT_EXECUTE..=COM_STMT_FETCH => {
                let is_there = command[8] & AT_REPLICA != 0;
                command[8] &= !AT_REPLICA;
                is_there
            }
            _ => false,
        };
        if at_replica { &mut replica } else { &mut primary }.write_all(&command)?;
    }
    for stream in [&primary, &replica] {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for answer in answers {
        let _ = answer.join();
    }
    Ok(())
}

/// Sends the client's `response` to a server, and what both say then to each other. Without a
/// client, the answers are those of one without a password.
fn log_in(
    server: &mut TcpStream,
    response: &[u8],
    mut client: Option<&mut TcpStream>,
) -> Result<()> {
    server.write_all(response)?;
    loop {
        let said = packet(server)?;
        if let Some(client) = &mut client {
            client.write_all(&said)?;
        }
        match said[4] {
            // It asks for another proof.
            0xfe => {
                let empty = [0, 0, 0, said[3].wrapping_add(1)];
                let proof = client.as_deref_mut().map_or(Ok(empty.to_vec()), packet)?;
                server.write_all(&proof)?;
            }
            // It tells more.
            0x01 => {}
            _ => return Ok(()),
        }
    }
}

/// Passes answers on, and marks the number of a statement that `is_prepared` at the replica.
fn answer(
    mut server: TcpStream,
    mut client: TcpStream,
    is_prepared: Arc<AtomicBool>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        while let Ok(mut said) = packet(&mut server) {
            if is_prepared.swap(false, Ordering::SeqCst) && said[4] == 0 {
                said[8] |= AT_REPLICA;
            }
            if client.write_all(&said).is_err() {
                return;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    })
}

/// The next packet, with its head.
fn packet(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]);
    let mut packet = head.to_vec();
    packet.resize(4 + length as usize, 0);
    stream.read_exact(&mut packet[4..])?;
    Ok(packet)
}
