//! What systemd is told, where it has started the service: when that is ready, what it does, and
//! that it ends.

/// The service listens, so that whoever waits for its start goes on.
pub(crate) fn ready(status: &str) {
    tell(&["READY=1", &format!("STATUS={}", one_line(status))]);
}

/// What `systemctl status` shows.
pub(crate) fn status(status: &str) {
    tell(&[&format!("STATUS={}", one_line(status))]);
}

/// The service ends, and takes its time for it.
pub(crate) fn stopping() {
    tell(&["STOPPING=1", "STATUS=ends"]);
}

/// The text without ends of lines, as another line would be another message.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(unix)]
fn tell(lines: &[&str]) {
    let lines: Vec<_> = lines.iter().map(|line| sd_notify::NotifyState::Custom(line)).collect();
    if let Err(error) = sd_notify::notify(&lines) {
        tracing::warn!(%error, "NOTIFY_SOCKET is set, and systemd cannot be told");
    }
}

#[cfg(not(unix))]
fn tell(_: &[&str]) {}
