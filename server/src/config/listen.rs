//! Addresses to listen on.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// An address of a machine, the path of a Unix socket, or the name of a socket that systemd hands
/// over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
    Systemd(String),
}

impl ListenAddress {
    /// The address of the machine. A Unix socket stays on this one, and that of a socket which
    /// systemd hands over is known once it is taken.
    pub(crate) fn ip(&self) -> IpAddr {
        match self {
            ListenAddress::Tcp(address) => address.ip(),
            ListenAddress::Unix(_) | ListenAddress::Systemd(_) => Ipv4Addr::LOCALHOST.into(),
        }
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ListenAddress, String> {
        match text.split_once(':') {
            Some(("unix", "")) => Err("write the path of a socket behind unix:".to_owned()),
            Some(("unix", path)) => Ok(ListenAddress::Unix(path.into())),
            Some(("systemd", "")) => {
                Err("write the FileDescriptorName= of a socket behind systemd:".to_owned())
            }
            Some(("systemd", name)) => Ok(ListenAddress::Systemd(name.to_owned())),
            _ => text.parse().map(ListenAddress::Tcp).map_err(|_| {
                "write an address and a port, such as 127.0.0.1:6380, unix: and a path, or \
                 systemd: and a name"
                    .to_owned()
            }),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenAddress::Tcp(address) => write!(f, "{address}"),
            ListenAddress::Unix(path) => write!(f, "unix:{}", path.display()),
            ListenAddress::Systemd(name) => write!(f, "systemd:{name}"),
        }
    }
}

/// The permissions of a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnixMode(pub(crate) u32);

impl FromStr for UnixMode {
    type Err = String;

    fn from_str(text: &str) -> Result<UnixMode, String> {
        let mode = u32::from_str_radix(text, 8).ok().filter(|&mode| mode <= 0o777);
        let is_octal = text.bytes().all(|byte| byte.is_ascii_digit());
        mode.filter(|_| is_octal)
            .map(UnixMode)
            .ok_or_else(|| "write permissions as chmod has them, such as 0660".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_tcp_a_path_or_a_name() {
        for (text, expected, is_local) in [
            ("127.0.0.1:6380", "127.0.0.1:6380", true),
            ("[::1]:0", "[::1]:0", true),
            ("0.0.0.0:1", "0.0.0.0:1", false),
            ("unix:/run/uidring.sock", "unix:/run/uidring.sock", true),
            ("systemd:http", "systemd:http", true),
        ] {
            let address: Result<ListenAddress, _> = text.parse();
            let told = address.map(|address| (address.to_string(), address.ip().is_loopback()));
            assert_eq!(told, Ok((expected.to_owned(), is_local)));
        }
        for wrong in
            ["", "unix:", "systemd:", "systemd", "localhost:6380", "6380", "/run/uidring.sock"]
        {
            assert!(wrong.parse::<ListenAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_mode_is_octal() {
        assert_eq!("0660".parse(), Ok(UnixMode(0o660)));
        assert_eq!("777".parse(), Ok(UnixMode(0o777)));
        for wrong in ["", "1777", "8", "+7", "rw", "0o660"] {
            assert!(wrong.parse::<UnixMode>().is_err(), "{wrong}");
        }
    }
}
