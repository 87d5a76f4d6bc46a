//! Unix sockets, and the files that they are.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use tokio::net::UnixSocket;

use crate::config::listen::UnixMode;

/// The file of a socket that this process listens on.
#[derive(Clone, Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Its device and number, by which it is known again; `None` for a file that is systemd's.
    file: Option<(u64, u64)>,
}

impl SocketFile {
    /// The file of a socket that systemd has opened, and removes.
    pub(crate) fn by_systemd(path: PathBuf) -> SocketFile {
        SocketFile { path, file: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file, unless another program has put its own there.
    pub(crate) fn remove(&self) {
        if file_of(&self.path).is_ok_and(|file| Some(file) == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn file_of(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Listens on a socket at `path`. Replaces one that nobody listens on. Needs a runtime.
pub(crate) fn listen(
    path: &Path,
    mode: UnixMode,
    backlog: u32,
) -> Result<(UnixListener, SocketFile), String> {
    let told = |error: io::Error| error.to_string();
    // Of two processes that find an old socket, one removes it, and the other finds the new one.
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let locked = File::open(folder).map_err(told)?;
    locked.lock().map_err(told)?;
    clear(path)?;
    let socket = UnixSocket::new_stream().map_err(told)?;
    socket.bind(path).map_err(told)?;
    // Before it listens, nobody can connect.
    fs::set_permissions(path, Permissions::from_mode(mode.0)).map_err(told)?;
    let file = Some(file_of(path).map_err(told)?);
    let listener = socket.listen(backlog).and_then(tokio::net::UnixListener::into_std);
    let owned = SocketFile { path: path.to_owned(), file };
    Ok((listener.map_err(told)?, owned))
}

/// Removes a socket that nobody listens on.
fn clear(path: &Path) -> Result<(), String> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.file_type().is_socket() {
        return Err("a file is there that is no socket; choose another path".to_owned());
    }
    match UnixStream::connect(path) {
        Ok(_) => Err("another program does; choose another path".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| error.to_string())
        }
        Err(error) => Err(format!("nobody can tell whether another program does: {error}")),
    }
}
