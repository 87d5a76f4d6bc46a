//! Signals. SIGTERM and Ctrl-C end the service, and a second one ends it at once. SIGHUP reloads
//! tokens, certificates and the addresses of stores. Other signals that would kill the process, and
//! so lose its numbers, are ignored. On Windows, the service also ends with the console, the
//! session or the machine.

use std::process;

use tokio::runtime::Runtime;

use crate::process::end::{EndReason, EndSender};
use crate::process::threads::one_threaded;
use crate::process::{output, threads};

/// The request behind a signal.
enum Requested {
    End,
    #[cfg_attr(not(unix), expect(dead_code, reason = "no signal asks for it"))]
    Reload,
}

/// The signals received since [`Signals::listen`].
pub(crate) struct Signals {
    runtime: Runtime,
    streams: Streams,
}

#[cfg(unix)]
struct Streams {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Streams {
    fn open() -> std::io::Result<Streams> {
        use tokio::signal::unix::{SignalKind, signal};
        /// Sent when the log file reaches its size limit. Ignored, so that only the log's next
        /// lines are lost.
        const SIGXFSZ: i32 = 25;
        // Once tokio has installed a handler, the signal never kills the process, even without a
        // listener.
        for ignored in [
            SignalKind::user_defined1(),
            SignalKind::user_defined2(),
            SignalKind::from_raw(SIGXFSZ),
        ] {
            drop(signal(ignored)?);
        }
        Ok(Streams {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Requested {
        tokio::select! {
            _ = self.terminate.recv() => Requested::End,
            _ = self.interrupt.recv() => Requested::End,
            _ = self.hangup.recv() => Requested::Reload,
        }
    }
}

#[cfg(windows)]
struct Streams {
    interrupt: tokio::signal::windows::CtrlC,
    break_key: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    logoff: tokio::signal::windows::CtrlLogoff,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Streams {
    fn open() -> std::io::Result<Streams> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
        Ok(Streams {
            interrupt: ctrl_c()?,
            break_key: ctrl_break()?,
            close: ctrl_close()?,
            logoff: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    async fn next(&mut self) -> Requested {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.break_key.recv() => {}
            _ = self.close.recv() => {}
            _ = self.logoff.recv() => {}
            _ = self.shutdown.recv() => {}
        }
        Requested::End
    }
}

impl Signals {
    /// Listens for signals. Those that come before [`Signals::begin`] are kept.
    pub(crate) fn listen() -> Result<Signals, String> {
        let runtime = one_threaded(1)?;
        let streams = {
            let _in_runtime = runtime.enter();
            Streams::open().map_err(|error| format!("cannot listen for signals: {error}"))?
        };
        Ok(Signals { runtime, streams })
    }

    /// Starts the thread that handles signals. It calls `reload` to read files again, and
    /// `begin_end` before it tells all threads of the end.
    pub(crate) fn begin(
        mut self,
        end: &EndSender,
        reload: impl Fn() + Send + 'static,
        begin_end: impl Fn() + Send + 'static,
    ) -> Result<(), String> {
        let ending = end.clone();
        let mut was_asked = false;
        let handle = move || {
            loop {
                match self.next() {
                    Requested::Reload => reload(),
                    Requested::End if std::mem::replace(&mut was_asked, true) => {
                        output::end(Some("asked to end at once; unused numbers are lost"));
                        process::exit(1);
                    }
                    Requested::End => {
                        tracing::info!("asked to end");
                        begin_end();
                        ending.send_replace(Some(EndReason::Asked));
                    }
                }
            }
        };
        threads::begin("uidring-signals", end, handle).map(drop)
    }

    fn next(&mut self) -> Requested {
        self.runtime.block_on(self.streams.next())
    }
}
