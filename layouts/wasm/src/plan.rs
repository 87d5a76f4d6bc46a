//! Plans a layout.

use serde::Serialize;
use serde_json::Value;
use uidring_layouts::plan::{self, Change, Plan, Problem as PlanProblem, TradeOffs, trade_offs};
use uidring_layouts::quantity::quantity;
use uidring_layouts::{some_length, time};

use crate::request::{Problem, Request};
use crate::strings::in_strings;

#[derive(Serialize)]
struct Planned {
    /// As `uidring plan --json` prints it.
    report: plan::Report,
    /// Whether the default layout is enough, too.
    default_is_enough: bool,
    /// What to reduce where nothing fits: each list would be enough.
    reductions: Vec<Vec<Change>>,
}

pub(crate) fn answer(request: &Request) -> Result<Value, Problem> {
    let now = request.now()?;
    let asked = read(request)?;
    let told = |problem: PlanProblem| Problem::of(field(problem), problem.to_string());
    let epoch = asked.first_time(now).map_err(told)?;
    let needs = asked.needs(epoch, now).map_err(told)?;
    let plan =
        Plan::new(&needs, epoch, now).map_err(|error| Problem::of("epoch", error.to_string()))?;
    let reductions = match plan {
        Plan::TooMuch => match trade_offs(&needs) {
            TradeOffs::AnyOf(ways) => ways,
            TradeOffs::AllOf(changes) => vec![changes],
        },
        Plan::Fits(_) | Plan::NothingExceeds => Vec::new(),
    };
    in_strings(&Planned {
        report: plan::Report::of(&needs, plan.candidates(), now),
        default_is_enough: !plan.candidates().is_empty() && asked.default_is_enough(&needs, now),
        reductions,
    })
}

fn read(request: &Request) -> Result<plan::Request, Problem> {
    let default = plan::Request::default();
    Ok(plan::Request {
        rate: request.parsed("rate", quantity)?,
        peak: request.parsed("peak", quantity)?,
        peak_for: request.parsed("peak_for", some_length)?.unwrap_or(default.peak_for),
        peaks_per_day: request.parsed("peaks_per_day", quantity)?.unwrap_or(default.peaks_per_day),
        nodes: request.parsed("nodes", plan::nodes)?.unwrap_or(default.nodes),
        restarts_per_day: request
            .parsed("restarts_per_day", quantity)?
            .unwrap_or(default.restarts_per_day),
        years: request.parsed("years", plan::years)?.unwrap_or(default.years),
        epoch: request.parsed("epoch", time)?,
        oldest: request.parsed("oldest", time)?,
        // Larger ids need a time field that begins early, and a browser has no time before 1970.
        above: None,
        max_lead: request.parsed("max_lead", some_length)?.unwrap_or(default.max_lead),
    })
}

/// The field that causes a problem.
fn field(problem: PlanProblem) -> &'static str {
    match problem {
        PlanProblem::OldestInFuture => "oldest",
        PlanProblem::EpochAfterOldest | PlanProblem::EpochInFuture => "epoch",
        PlanProblem::PeakBelowRate => "peak",
        PlanProblem::NoRate => "rate",
        PlanProblem::PeaksFillDay => "peak_for",
        PlanProblem::NoClock => "now_ms",
    }
}
