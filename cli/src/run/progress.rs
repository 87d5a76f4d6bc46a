//! The progress of a long run.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::style::ProgressTracker;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};

use crate::text::print_note;
use crate::text::words::{measured, span_in_seconds};

/// A run shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

const TEMPLATE: &str = "{bar:9.cyan/dim} {percent:>3} % of {human_len}  {rate} M/s  {left} left";
/// A shorter template, for narrow terminals.
const NARROW: &str = "{percent:>3} %  {rate} M/s  {left} left";
/// The width at which it fits whatever the numbers are.
const ROOMY: u16 = 80;

/// A bar on standard error that appears when the run takes longer than a moment.
#[derive(Debug)]
pub(crate) struct Progress {
    total: u64,
    /// The name of what is counted.
    what: &'static str,
    done: u64,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// `None` if nobody would see the bar, or if it would mix with the UIDs on the same terminal.
    pub(crate) fn new(total: u64, what: &'static str) -> Option<Progress> {
        let visible = io::stderr().is_terminal() && !io::stdout().is_terminal();
        visible.then(|| Progress { total, what, done: 0, started: Instant::now(), bar: None })
    }

    pub(crate) fn set(&mut self, done: u64) {
        self.done = done;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.started.elapsed() > PATIENCE {
            let target = target(Term::buffered_stderr());
            let template = template(Term::stderr().size().1);
            let bar = Self::bar(target, template, self.total, self.started.elapsed());
            bar.set_position(self.done);
            self.bar = Some(bar);
        }
    }

    /// Replaces the bar by one line with the total and the rate, or by nothing if the run ended
    /// early.
    pub(crate) fn finish(self) {
        let Some(bar) = self.bar else { return };
        if self.done == self.total {
            bar.set_style(style(&finished(Term::stderr().size().1, self.what)));
            bar.finish();
            print_note("\n");
        } else {
            bar.finish_and_clear();
        }
    }

    fn bar(
        target: ProgressDrawTarget,
        template: &str,
        total: u64,
        elapsed: Duration,
    ) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(total), target);
        bar.set_style(style(template));
        bar.with_elapsed(elapsed)
    }
}

fn template(columns: u16) -> &'static str {
    if columns < ROOMY { NARROW } else { TEMPLATE }
}

/// The last line: how many, in which time.
fn finished(columns: u16, what: &str) -> String {
    let rate = if columns < ROOMY { "" } else { ", {rate} M/s" };
    format!("{{human_len}} {what}s in {{length}}{rate}")
}

/// How many columns of a terminal stay free, for the `^C` that it shows: it must not push the text
/// to a line that is not cleared.
pub(crate) const FREE_COLUMNS: usize = 3;

/// What is redrawn goes to `term`, or nowhere if it is no terminal.
pub(crate) fn target(term: Term) -> ProgressDrawTarget {
    if term.is_term() {
        ProgressDrawTarget::term_like(Box::new(Unfilled {
            term,
            is_between: AtomicBool::default(),
        }))
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// A terminal whose lines end where their text ends: indicatif fills them with spaces, and so moves
/// the cursor to the edge.
#[derive(Debug)]
struct Unfilled {
    term: Term,
    /// Whether the spaces after a line came, and another line may follow.
    is_between: AtomicBool,
}

impl TermLike for Unfilled {
    fn width(&self) -> u16 {
        self.term.size().1
    }

    fn height(&self) -> u16 {
        self.term.size().0
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.term.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.term.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.term.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.term.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.term.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        if text.bytes().all(|byte| byte == b' ') {
            self.is_between.store(true, Ordering::Relaxed);
            // Clears the rest of the line.
            return self.term.write_str("\x1b[K");
        }
        if self.is_between.swap(false, Ordering::Relaxed) {
            self.term.write_str("\r\n")?;
        }
        self.term.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.term.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.is_between.store(false, Ordering::Relaxed);
        self.term.flush()
    }
}

/// A text that is redrawn in place.
pub(crate) fn redrawn(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(style("{msg}"));
    bar
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants: if one were wrong, the plain bar would show it.
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .progress_chars("━━─")
        .with_key("rate", key(|state| format!("{:.1}", rate(state) / 1e6)))
        .with_key("length", key(|state| measured(state.elapsed())))
        .with_key("left", key(|state| span_in_seconds(left(state))))
}

fn key(text: fn(&ProgressState) -> String) -> impl ProgressTracker {
    move |state: &ProgressState, out: &mut dyn fmt::Write| {
        // The bar's own buffer takes everything.
        let _ = out.write_str(&text(state));
    }
}

/// UIDs a second since the start, so that the last line agrees with the bar before it.
#[allow(clippy::cast_precision_loss)] // three digits are shown
fn rate(state: &ProgressState) -> f64 {
    state.pos() as f64 / state.elapsed().as_secs_f64()
}

#[allow(clippy::cast_precision_loss)] // likewise
fn left(state: &ProgressState) -> Duration {
    let left = state.len().unwrap_or(0).saturating_sub(state.pos());
    Duration::try_from_secs_f64(left as f64 / rate(state)).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::{FREE_COLUMNS, Progress, finished, style, template};

    /// A terminal that is wider than any line.
    #[derive(Clone, Debug, Default)]
    struct Wide(Arc<Mutex<String>>);

    impl Wide {
        /// What was written since the last call.
        fn take(&self) -> String {
            let written = std::mem::take(&mut *self.0.lock().unwrap());
            anstream::adapter::strip_str(&written).to_string().trim_end().to_owned()
        }
    }

    impl TermLike for Wide {
        fn width(&self) -> u16 {
            200
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_fits_80_columns() {
        for total in [1_000_000, 10_000_000_000_000, u64::MAX] {
            the_bar_fits(80, total);
        }
    }

    #[test]
    fn the_bar_fits_40_columns() {
        for total in [1_000_000, 1_000_000_000] {
            the_bar_fits(40, total);
        }
    }

    fn the_bar_fits(columns: u16, total: u64) {
        let wide = Wide::default();
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(wide.clone()), 255);
        let bar = Progress::bar(target, template(columns), total, Duration::from_secs(20_000));
        let fits = |shown: &str| shown.chars().count() <= usize::from(columns) - FREE_COLUMNS;
        for done in [total / 1000, total - 1].map(|done| done.min(9_999_999_999_999)) {
            bar.set_position(done);
            wide.take();
            bar.force_draw();
            let shown = wide.take();
            assert!(shown.ends_with(" left") && fits(&shown), "{shown}");
        }
        bar.set_style(style(&finished(columns, "number")));
        wide.take();
        bar.finish();
        let shown = wide.take();
        assert!(shown.contains(" numbers in ") && fits(&shown), "{shown}");
    }
}
