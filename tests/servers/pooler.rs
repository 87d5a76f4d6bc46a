//! A proxy that drops the parameter `options` of a startup, as PgBouncer does with
//! `ignore_startup_parameters = options`.

use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

/// The address of such a proxy in front of the server at the address `url`. It runs until the
/// process ends.
pub fn without_options(url: &str) -> String {
    let (user, rest) = url.split_once('@').unwrap();
    let (server, database) = rest.split_once('/').unwrap();
    let (listener, server) = (TcpListener::bind("127.0.0.1:0").unwrap(), server.to_owned());
    let proxy = format!("{user}@{}/{database}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            let server = TcpStream::connect(&server).unwrap();
            thread::spawn(move || serve(client.unwrap(), server));
        }
    });
    proxy
}

fn serve(mut client: TcpStream, mut server: TcpStream) {
    let mut startup = packet(&mut client);
    if startup[..] == 80_877_103_u32.to_be_bytes() {
        // It asks for TLS.
        client.write_all(b"N").unwrap();
        startup = packet(&mut client);
    }
    let (version, parameters) = startup.split_at(4);
    let mut kept = version.to_vec();
    let words: Vec<&[u8]> = parameters.split(|byte| *byte == 0).collect();
    for pair in words.chunks_exact(2).filter(|pair| pair[0] != b"options" && !pair[0].is_empty()) {
        for word in pair {
            kept.extend_from_slice(word);
            kept.push(0);
        }
    }
    kept.push(0);
    let length = u32::try_from(kept.len() + 4).unwrap();
    server.write_all(&length.to_be_bytes()).unwrap();
    server.write_all(&kept).unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let there = thread::spawn(move || {
        let _ = copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let _ = copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    there.join().unwrap();
}

/// The body of a packet that begins with its length.
fn packet(stream: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body).unwrap();
    body
}
