//! Unix sockets, and the files that they are.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::net::{UnixSocket, UnixStream};
use tokio::time::{Instant, sleep};

use crate::config::listen::UnixMode;

/// How long a folder may be locked that a socket is to be in, and how often it is tried. Another
/// start holds it for a moment; and any user may hold it for ever.
const LOCKED: Duration = Duration::from_secs(3);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Device, number, and when it was made, where the file system knows that. A file system may give
/// the number of a file that was removed to the next one.
type FileId = (u64, u64, Option<SystemTime>);

/// The file of a socket that this process listens on.
#[derive(Clone, Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// By what it is known again; `None` for a file that is systemd's.
    file: Option<FileId>,
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

fn file_of(path: &Path) -> io::Result<FileId> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino(), metadata.created().ok()))
}

/// Listens on a socket at `path`. Replaces one that nobody listens on.
pub(crate) async fn listen(
    path: &Path,
    mode: UnixMode,
    backlog: u32,
) -> Result<(UnixListener, SocketFile), String> {
    let told = |error: io::Error| error.to_string();
    // Of two processes that find an old socket, one removes it, and the other finds the new one.
    let folder = folder_of(path);
    let locked = File::open(folder).map_err(told)?;
    lock(&locked, folder).await?;
    clear(path).await?;
    let socket = UnixSocket::new_stream().map_err(told)?;
    socket.bind(path).map_err(told)?;
    // Before it listens, nobody can connect.
    fs::set_permissions(path, Permissions::from_mode(mode.0)).map_err(told)?;
    let file = Some(file_of(path).map_err(told)?);
    let listener = socket.listen(backlog).and_then(tokio::net::UnixListener::into_std);
    let owned = SocketFile { path: path.to_owned(), file };
    Ok((listener.map_err(told)?, owned))
}

/// Looks whether [`listen`] could make a socket at `path`. Returns whether nobody listens there.
pub(crate) async fn dry_run(path: &Path) -> Result<bool, String> {
    let told = |error: io::Error| error.to_string();
    let folder = folder_of(path);
    let locked = File::open(folder).map_err(told)?;
    lock(&locked, folder).await?;
    // A socket with this path could be bound: it has neither too many bytes nor none.
    std::os::unix::net::SocketAddr::from_pathname(path).map_err(told)?;
    let state = state(path).await?;
    let probe = folder.join(format!(".uidring-server-check-{}", std::process::id()));
    File::create_new(&probe).and_then(|_| fs::remove_file(&probe)).map_err(told)?;
    Ok(state != State::InUse)
}

/// What is at the path of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Nothing,
    /// A socket that nobody listens on.
    Left,
    InUse,
}

/// The folder that the socket is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Locks the folder, which a call that waits might do for ever.
async fn lock(opened: &File, folder: &Path) -> Result<(), String> {
    let until = Instant::now() + LOCKED;
    loop {
        match opened.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(LOCK_PAUSE).await,
            Err(TryLockError::WouldBlock) => {
                return Err(format!(
                    "another program has locked the folder {}; end it, or choose another path",
                    folder.display()
                ));
            }
            Err(TryLockError::Error(error)) => return Err(error.to_string()),
        }
    }
}

/// Removes a socket that nobody listens on.
async fn clear(path: &Path) -> Result<(), String> {
    match state(path).await? {
        State::Nothing => Ok(()),
        State::Left => fs::remove_file(path).map_err(|error| error.to_string()),
        State::InUse => Err("another program does; choose another path".to_owned()),
    }
}

/// Looks what is at `path`, which must be a socket if anything is.
async fn state(path: &Path) -> Result<State, String> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Nothing),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.file_type().is_socket() {
        return Err("a file is there that is no socket; choose another path".to_owned());
    }
    // Does not wait for a place in the queue of whoever listens there.
    match UnixStream::connect(path).await {
        Ok(_) => Ok(State::InUse),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(State::InUse),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(State::Left),
        Err(error) => Err(format!("nobody can tell whether another program does: {error}")),
    }
}
