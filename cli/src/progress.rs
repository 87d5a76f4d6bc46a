//! The progress of a long run.

use std::fmt;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::style::ProgressTracker;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A shorter run needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

const TEMPLATE: &str =
    "{bar:20.cyan/dim} {percent:>3} %  {human_pos} of {human_len}  {rate} M/s  {left} left";
const FINISHED: &str = "{human_len} UIDs in {seconds} s, {rate} M/s";

/// A bar on standard error that appears when the run takes longer than a moment.
#[derive(Debug)]
pub(crate) struct Progress {
    total: u64,
    done: u64,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// `None` if nobody would see the bar, or if it would mix with the UIDs on the same terminal.
    pub(crate) fn new(total: u64) -> Option<Progress> {
        let visible = io::stderr().is_terminal() && !io::stdout().is_terminal();
        visible.then(|| Progress { total, done: 0, started: Instant::now(), bar: None })
    }

    pub(crate) fn advance(&mut self, count: u64) {
        self.done += count;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.started.elapsed() > PATIENCE {
            self.bar = Some(self.open());
        }
    }

    /// Replaces the bar by one line with the total and the rate.
    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.set_style(style(FINISHED));
            bar.finish();
        }
    }

    fn open(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
        bar.set_style(style(TEMPLATE));
        let bar = bar.with_elapsed(self.started.elapsed());
        bar.set_position(self.done);
        bar
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants: if one were wrong, the plain bar would show it.
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .progress_chars("━━─")
        .with_key("rate", key(|state| format!("{:.1}", rate(state) / 1e6)))
        .with_key("seconds", key(|state| format!("{:.1}", state.elapsed().as_secs_f64())))
        .with_key("left", key(|state| HumanDuration(left(state)).to_string()))
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
