//! Signals: SIGTERM and Ctrl-C end the service, and a second one does so at once. SIGHUP reads
//! tokens and certificates again. Others that would end a process, and lose its numbers, do
//! nothing.

use std::process;

use tokio::runtime::Runtime;

use crate::process::end::{End, EndSender};
use crate::process::threads::one_threaded;
use crate::process::{output, threads};

/// What a signal asks for.
enum Asked {
    End,
    Reload,
}

/// The signals that come from now on.
pub(crate) struct Signals {
    runtime: Runtime,
    #[cfg(unix)]
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
        /// The log is a file as large as a file may be. Its next line is lost, and nothing else.
        const SIGXFSZ: i32 = 25;
        // A signal that somebody has listened for once never ends the process.
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

    async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::End,
            _ = self.interrupt.recv() => Asked::End,
            _ = self.hangup.recv() => Asked::Reload,
        }
    }
}

impl Signals {
    /// Listens for signals. They wait until they are handled.
    pub(crate) fn listen() -> Result<Signals, String> {
        let runtime = one_threaded(1)?;
        #[cfg(unix)]
        let streams = {
            let _in_runtime = runtime.enter();
            Streams::open().map_err(|error| format!("cannot listen for signals: {error}"))?
        };
        Ok(Signals {
            runtime,
            #[cfg(unix)]
            streams,
        })
    }

    /// Handles signals, on a thread of its own: calls `reload` when all is to be read again, and
    /// `begin_end` before all threads learn of the end.
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
                    Asked::Reload => reload(),
                    Asked::End if std::mem::replace(&mut was_asked, true) => {
                        output::end(Some("asked to end at once; unused numbers are lost"));
                        process::exit(1);
                    }
                    Asked::End => {
                        tracing::info!("asked to end");
                        begin_end();
                        ending.send_replace(Some(End::Asked));
                    }
                }
            }
        };
        threads::begin("uidring-signals", end, handle).map(drop)
    }

    #[cfg(unix)]
    fn next(&mut self) -> Asked {
        self.runtime.block_on(self.streams.next())
    }

    #[cfg(not(unix))]
    fn next(&mut self) -> Asked {
        match self.runtime.block_on(tokio::signal::ctrl_c()) {
            Ok(()) => Asked::End,
            Err(_) => self.runtime.block_on(std::future::pending()),
        }
    }
}
