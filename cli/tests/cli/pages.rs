//! Help, manual pages and completions.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use uidring::Layout;
use uidring::registry::WorkerRegistry;

use crate::load::load;
use crate::workers::{HOUR, leases, request};
use crate::{complaint, folder, run, size::size, stderr, stdout, text, uidring};

#[test]
fn completions_and_manual_pages_are_printed() {
    let folder = folder();
    for (shell, begin) in [
        ("bash", "_uidring()"),
        ("zsh", "#compdef uidring"),
        ("fish", "# Print an optspec"),
        ("elvish", "\nuse builtin"),
        ("powershell", "\nusing namespace"),
    ] {
        let script = stdout(folder.path(), &["completions", shell]);
        assert!(script.starts_with(begin), "{shell}: {script}");
        assert!(script.contains("on-lead-limit") && script.contains("release"), "{shell}");
    }
    for (args, title, name) in [
        (&[][..], "uidring", "uidring \\- "),
        (&["take"], "uidring-take", "uidring\\-take \\- "),
        (&["workers", "release"], "uidring-workers-release", "uidring\\-workers\\-release \\- "),
    ] {
        let args = [&["man"], args].concat();
        let command = &mut uidring(folder.path(), &args);
        let output = command.env("UIDRING_DB", "postgres://me:hunter2@db/ids").output().unwrap();
        let page = text(&output.stdout);
        assert!(output.status.success() && page.contains(".TH"), "{page}");
        assert!(page.contains(name) && !page.contains("hunter2"), "{name} in {page}");
        // Title, section, date, source, manual.
        let version = env!("CARGO_PKG_VERSION");
        let heading = format!(".TH {title} 1 \" \" \"uidring {version}\" \"User Commands\"\n");
        assert!(page.contains(&heading), "{heading} in {page}");
        // One line stays one line.
        assert!(page.contains("\n.SH EXAMPLES\n.nf\n  uidring "), "{page}");
        assert!(page.contains("\n.fi\n") && !page.contains("EXTRA"), "{page}");
    }
    for (args, why) in [
        (&["nope"][..], "uidring has no command nope; it has take, parse, mask, "),
        (&["workers", "nope"], "uidring workers has no command nope; it has release, lend, list\n"),
        (&["take", "nope"], "uidring take has no commands, and so not nope\n"),
    ] {
        let complaint = stderr(folder.path(), &[&["man"], args].concat(), 2);
        assert!(complaint.contains(why), "{complaint}");
    }
    assert!(stderr(folder.path(), &["completions", "tcsh"], 2).contains("fish"));
}

#[test]
fn help_and_version_are_answers() {
    let folder = folder();
    assert_eq!(
        stdout(folder.path(), &["--version"]),
        format!("uidring {}\n", env!("CARGO_PKG_VERSION"))
    );
    for command in [
        "take",
        "parse",
        "workers",
        "tags",
        "series",
        "layout",
        "plan",
        "status",
        "completions",
        "man",
    ] {
        assert!(stdout(folder.path(), &["--help"]).contains(&format!("\n  {command} ")));
        let help = stdout(folder.path(), &[command, "--help"]);
        assert!(help.contains(&format!("Usage: uidring {command} ")), "{help}");
    }
}

const COMMANDS: [&str; 26] = [
    "",
    "take",
    "parse",
    "workers",
    "workers release",
    "workers lend",
    "workers list",
    "tags",
    "tags create",
    "tags set",
    "tags remove",
    "series",
    "series create",
    "series list",
    "series next",
    "series parse",
    "series change",
    "series close",
    "series prune",
    "series forecast",
    "layout",
    "plan",
    "status",
    "bench",
    "completions",
    "man",
];

#[test]
fn the_examples_in_the_help_are_accepted() {
    let folder = folder();
    let folder = folder.path();
    let mut all = Vec::new();
    for command in COMMANDS {
        let args = [&command.split_whitespace().collect::<Vec<_>>()[..], &["--help"]].concat();
        // An example that is too long would be folded.
        let help = text(&uidring(folder, &args).env("COLUMNS", "80").output().unwrap().stdout);
        let (_, examples) = help.split_once("\nExamples:\n").unwrap();
        // Up to what the shell does, and to what is said about it.
        let examples: Vec<String> = examples
            .lines()
            .map(|line| line.rsplit_once("uidring ").unwrap().1.split(['|', '>']).next().unwrap())
            .map(|line| line.split("  ").next().unwrap())
            .filter(|line| !line.contains('<'))
            .map(str::to_owned)
            .collect();
        assert!(examples.len() >= 3, "{help}");
        // Its own take a minute.
        if command != "bench" {
            all.extend(examples);
        }
    }
    // At once, because some take seconds.
    thread::scope(|scope| {
        for example in &all {
            scope.spawn(move || is_accepted(folder, example));
        }
    });
}

fn is_accepted(folder: &Path, example: &str) {
    let args: Vec<&str> = example.split_whitespace().collect();
    let mut command = uidring(folder, &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Some print a lot.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    // They may fail for want of a file, or of a server.
    assert_ne!(output.status.code(), Some(2), "{example}: {}", text(&output.stderr));
}

#[test]
fn every_page_fits_80_columns() {
    every_page_fits(80);
}

#[test]
fn every_page_fits_40_columns() {
    every_page_fits(40);
}

/// Lines whose pages must fit, in this order.
const PAGES: &[&str] = &[
    "take -n 1",
    "take -n 3 --format json",
    "take --for 50ms --no-output",
    "take --for 50ms --no-output --max-lead 3s --on-lead-limit fail",
    "status --for 50ms",
    "status --for 50ms --preset twitter --exact-time",
    "status --for 400ms --rate max --max-lead 10s --on-lead-limit new-worker",
    "parse 1",
    "parse 1 9223372036854775807 240510429044957186",
    "parse --layout 20,10,10 9223372036854775807 1",
    "parse nothing",
    "parse 1256557484213448722",
    "parse --preset seata 9007199258836993",
    "parse --preset uid-generator -9223372036854718455",
    "parse --preset uid-generator -9223372036854718455 1",
    "workers",
    "workers release 1",
    "workers lend --pool shop --bits 1 --env A -- true",
    "workers lend --pool shop --bits 1 --env A -- true",
    "workers lend --pool shop --env A true",
    "workers list",
    "workers list --pool shop",
    "workers list --pool shops",
    "workers release 3",
    "workers release 5",
    "workers release 9",
    "tags",
    "tags create orders",
    "tags create orders-of-all-shops-in-the-north --description what_shops_in_the_north_sell",
    "tags set orders --step 1M --max-step 20M --next 9223372036854775807",
    "tags set orders --next 5",
    "tags set order --step 5",
    "tags",
    "tags --for 10ms",
    "tags --json",
    "tags remove orders",
    "tags remove orders --force",
    "tags remove orders",
    "tags remove orders-of-all-shops-in-the-north",
    "tags --table tinyid",
    "take --tag orders-of-all-shops-in-the-north --for 50ms --no-output",
    "take --tag orders-of-all-shops-in-the-south",
    "series list",
    "series create orders-of-all-shops-in-the-north {scope}/{yyyy}-{n:2}",
    "series create orders-of-all-shops-in-the-north {scope}/{yyyy}-{n:3}",
    "series create claims C{fy}-{n} --fiscal-year-from 04-01 \
     --time-zone America/Argentina/Buenos_Aires",
    "series create invoices {yyyy}-{n} --gapless",
    "series create a {yy}{n}",
    "series next orders-of-all-shops-in-the-north",
    "series next orders-of-all-shops-in-the-north --scope shop-of-the-north -n 90",
    "series next invoices",
    "series next claim",
    "series list",
    "series list orders-of-all-shops-in-the-north",
    "series forecast orders-of-all-shops-in-the-north",
    "series forecast claims",
    "series change claims C{fy}-{n:9} --from 2099-04-01",
    "series change claims C{fy}-{n:9} --from 2099-05-01",
    "series parse orders-of-all-shops-in-the-north shop/2026-42",
    "series parse claims C2026-7 C2026-12345678",
    "series parse claims C2026",
    "series close claims FY2025-04",
    "series close claims ever",
    "series prune claims",
    "layout",
    "layout --layout 41,10,12 --tick 1ms",
    "layout --layout 20,1,42",
    "layout --layout 30,20,8",
    "layout --layout 20,10,10",
    "layout --preset uid-generator",
    "layout --preset seata",
    "plan --rate 1000",
    "plan --rate 2k --peak 20k --peak-for 2h --nodes 20 --restarts-per-day 5",
    "plan --rate 500 --nodes 1000 --restarts-per-day 0.5",
    "plan --rate 500 --above 1256557484213448722",
    "plan --rate 500 --above 9223372036854775807",
    "plan --rate 100k --peak 2M --nodes 2 --epoch 2020-01-01T00:00:00.001Z",
    "plan --rate 5k --nodes 20 --restarts-per-day 20 --years 50",
    "plan --rate 5k --nodes 20M --restarts-per-day 20 --years 10000",
    "plan --rate 1M --nodes 1M --restarts-per-day 50 --years 1000",
    "plan --rate 2.5 --peak 1M --peak-for 23h --max-lead 10m --nodes 3 --years 1",
    "bench --for 1ms --threads 1,2",
    "bench --tag --for 1ms --threads 1,2",
    "take --layout 40,20,13",
    "take --tick fast",
    "take --bogus",
    "bogus",
    "--version",
    "completions tcsh",
    "man bogus",
];

/// On a terminal of so many columns, a width that a program gets from `COLUMNS` where it is in a
/// pipe.
fn every_page_fits(columns: usize) {
    let folder = folder();
    let (registry, _) = leases(folder.path());
    let long = registry.with_host("orders-7f9c6d5b48-x2x7q.eu-central-1", "4321");
    long.clone().leased(HOUR).assign(&request()).unwrap();
    let of_tenths = Layout::new(35, 10, 15).unwrap().with_tick(Duration::from_millis(100)).unwrap();
    let tenths = of_tenths.compose(1, 1, 1).unwrap().to_string();
    let mut pages: Vec<Vec<&str>> = PAGES.iter().map(|line| line.split(' ').collect()).collect();
    pages.push(vec!["parse", "--layout", "35,10,15", "--tick", "100ms", &tenths, &tenths]);
    // A thousand threads take seconds of the processor's time.
    let threads = size("1,1024", "1,2");
    for more in [&[][..], &["--tag"]] {
        pages.push([&["bench", "--for", "1ms", "--threads", threads], more].concat());
    }
    for command in COMMANDS {
        for help in ["-h", "--help"] {
            pages.push(command.split_whitespace().chain([help]).collect());
        }
    }
    let mut too_long = Vec::new();
    let mut look = |args: &[&str], page: &str| {
        assert!(!page.is_empty(), "{args:?}");
        for line in page.lines().filter(|line| line.chars().count() > columns) {
            // A word, such as a path, and a line of JSON cannot be folded.
            let is_a_word = !line.trim().contains(' ') || line.starts_with("registry /");
            // clap writes this.
            if !is_a_word && !line.starts_with('{') && !line.starts_with("Usage: uidring ") {
                too_long.push(format!("{args:?}: {}: {line}", line.chars().count()));
            }
        }
    };
    let width = columns.to_string();
    for args in pages {
        let mut command = uidring(folder.path(), &args);
        let output = command.env("COLUMNS", &width).env("TZ", "Asia/Kolkata").output().unwrap();
        look(&args, &(text(&output.stdout) + &text(&output.stderr)));
    }
    for args in [&["parse"][..], &["parse", "--preset", "twitter"]] {
        let mut command = uidring(folder.path(), args);
        let command = command.env("COLUMNS", &width).env("TZ", "Asia/Kolkata");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = "9223372036854775807\n240510429044957186\n1\n";
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let page = text(&child.wait_with_output().unwrap().stdout);
        look(args, &page);
        // Nothing of it is left out.
        assert!(page.contains("WORKER") && page.contains("SEQUENCE"), "{page}");
    }
    assert_eq!(too_long, [""; 0], "{} lines are too long", too_long.len());
}

/// The words of a page that a person would not say: numbers whose thousands are not grouped, and
/// lengths of time such as 20448.899s.
fn odd_words(page: &str) -> Vec<&str> {
    let is_odd = |word: &&str| {
        let word = word.trim_matches(|sign: char| !sign.is_ascii_alphanumeric());
        let number = word.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_glued = !number.is_empty() && word.len() > number.len() && whole != "UTF";
        is_number(whole)
            && is_number(decimals)
            && !whole.is_empty()
            && (whole.len() > 3 || decimals.len() > 2 || is_glued)
    };
    page.split_whitespace().filter(is_odd).collect()
}

#[test]
fn pages_speak_as_people_do() {
    assert_eq!(
        odd_words("UIDs: 32768 taken, lead 20448.899s, lag 10s; 1,000 in 1.5 s, -n 500"),
        ["32768", "20448.899s,", "10s;"]
    );
    let folder = folder();
    for args in [
        "take --for 300ms --no-output --max-lead 8h --on-lead-limit fail",
        "status --for 300ms --rate 100k",
        "status --for 300ms --rate max --max-lead 6h",
        "plan --rate 2k --peak 20k --peak-for 90m --nodes 2000 --restarts-per-day 0.1",
        "plan --rate 100k --peak 2M --nodes 2",
        "plan --rate 5k --nodes 2000 --restarts-per-day 20 --years 50",
    ] {
        let output = run(folder.path(), &args.split(' ').collect::<Vec<_>>());
        let said = text(&output.stdout) + &complaint(&output);
        let page = said.split("\nRust  ").next().unwrap();
        let lines = page.lines().filter(|line| !line.contains("due in"));
        assert_eq!(lines.flat_map(odd_words).collect::<Vec<_>>(), [""; 0], "{said}");
    }
    let (_, summary) = load(folder.path(), &["take", "-n", "1", "--rate", "10", "--no-output"]);
    assert!(summary.starts_with("1 UID in "), "{summary}");
    let card = stdout(folder.path(), &["parse", stdout(folder.path(), &["take"]).trim()]);
    assert!(card.contains(" just now\n") || card.contains(" 1 s ago\n"), "{card}");
}
