//! uidring beside other generators, and beside the least that any generator must do.
//!
//! `cargo bench -p uidring-against` prints the tables, in two minutes. `docs/benchmarks/plot` draws
//! them from their page.
//!
//! All rows run in one process and in turns: each round gives every row a slice of a few
//! milliseconds, so that what disturbs the machine disturbs them alike. The tables show ratios of
//! two slices of the same round, as the median over the rounds. Criterion finishes one benchmark
//! before it begins the next, so it is not used here.
//!
//! Threads are pinned, start each slice on a barrier, and do nothing but take ids. The time of a
//! slice goes from the first start to the last end. Afterwards all threads take ids of each row
//! once more. These ids are kept, sorted and searched for duplicates.

#![allow(clippy::unwrap_used)] // a panic says where the benchmark failed

mod measure;
mod peers;
mod row;
mod rows;

use std::fmt::Write;
use std::{env, thread};

use measure::Result;
use row::Row;

struct Args {
    threads: Vec<usize>,
    rounds: usize,
}

impl Args {
    fn from_env() -> Args {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut threads = vec![1, 2, 4, 8, cores];
        threads.sort_unstable();
        threads.dedup();
        let mut parsed = Args { threads, rounds: 120 };
        // As a test, the benchmark only has to run.
        if !env::args().any(|arg| arg == "--bench") {
            parsed = Args { threads: vec![1], rounds: 1 };
        }
        let mut args = env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
            match arg.as_str() {
                "--threads" => {
                    parsed.threads =
                        value().split(',').map(|number| number.parse().unwrap()).collect();
                }
                "--rounds" => parsed.rounds = value().parse().unwrap(),
                // Cargo passes this.
                "--bench" => {}
                other => panic!("what is {other}? There are --threads 1,2,4 and --rounds N"),
            }
        }
        parsed
    }
}

fn main() {
    let args = Args::from_env();
    let mut columns: Vec<(usize, Vec<Option<Result>>)> = Vec::new();
    for &threads in &args.threads {
        eprintln!("{threads} thread{} ...", if threads == 1 { "" } else { "s" });
        let rows = rows::all(threads);
        columns.push((threads, measure::run(&rows, threads, args.rounds)));
    }
    let rows = rows::all(1);
    println!(
        "{}",
        table(
            &rows,
            &columns,
            "Millions of ids a second, all threads together",
            |row, _, column| {
                column[row].as_ref().map(|result| measure::figure(result.millions))
            }
        )
    );
    println!(
        "{}",
        table(
            &rows,
            &columns,
            "As a share of the row's limit, in the same round",
            |row, rows, column| {
                let limit = rows.iter().position(|other| other.name == rows[row].limit)?;
                Some(format!(
                    "{:.2}",
                    measure::ratio(column[row].as_ref()?, column[limit].as_ref()?)
                ))
            }
        )
    );
    let pairs = [
        (rows::TAKE, "ferroid, atomic"),
        (rows::TAKE, "snowid"),
        (rows::EXACT, "snowid"),
        (rows::EXACT, "snowflake_me"),
        (rows::EXACT, "snowdon"),
        (rows::EXACT, "ferroid, atomic"),
        (rows::LOCAL, "ferroid, basic"),
        (rows::LOCAL, "rs-snowflake, lazy"),
        (rows::FILL, "snowflake_me, 1,024 at once"),
        (rows::FILL, "snowid, 1,024 at once"),
        ("uidring take, 4,096 slots", "uidring take, 8 slots"),
        ("uidring take, sequence of 8 bits", "uidring take, sequence of 20 bits"),
    ];
    println!("{}", pair_table(&rows, &columns, &pairs));
    duplicates(&rows, &columns);
}

type Column = [Option<Result>];

/// A Markdown table with a line for each row and a column for each number of threads.
fn table(
    rows: &[Row],
    columns: &[(usize, Vec<Option<Result>>)],
    title: &str,
    cell: impl Fn(usize, &[Row], &Column) -> Option<String>,
) -> String {
    let mut text = format!("{title}:\n\n{}", heading(columns));
    for (index, row) in rows.iter().enumerate() {
        write!(text, "| {} |", row.label()).unwrap();
        for (_, column) in columns {
            write!(text, " {} |", cell(index, rows, column).unwrap_or_default()).unwrap();
        }
        text.push('\n');
    }
    text
}

fn pair_table(
    rows: &[Row],
    columns: &[(usize, Vec<Option<Result>>)],
    pairs: &[(&str, &str)],
) -> String {
    let mut text = format!("Times as fast, in the same round:\n\n{}", heading(columns));
    let find = |name: &str| {
        rows.iter().position(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}"))
    };
    for &(ours, theirs) in pairs {
        write!(text, "| {ours} / {theirs} |").unwrap();
        for (_, column) in columns {
            let cell = column[find(ours)].as_ref().zip(column[find(theirs)].as_ref());
            let cell = cell.map(|(ours, theirs)| format!("{:.2}", measure::ratio(ours, theirs)));
            write!(text, " {} |", cell.unwrap_or_default()).unwrap();
        }
        text.push('\n');
    }
    text
}

fn heading(columns: &[(usize, Vec<Option<Result>>)]) -> String {
    let mut text = "| |".to_owned();
    for (threads, _) in columns {
        write!(text, " {threads} thread{} |", if *threads == 1 { "" } else { "s" }).unwrap();
    }
    text + "\n|---|" + &"---:|".repeat(columns.len()) + "\n"
}

/// Prints which rows gave an id twice, and panics if one of them is uidring's.
fn duplicates(rows: &[Row], columns: &[(usize, Vec<Option<Result>>)]) {
    let mut checked = 0;
    for (threads, column) in columns {
        for (row, result) in rows.iter().zip(column) {
            let Some(result) = result else { continue };
            checked += result.checked;
            if result.duplicates > 0 {
                println!(
                    "{}, {threads} threads: {} of {} ids are duplicates",
                    row.name, result.duplicates, result.checked
                );
                assert!(!row.name.starts_with("uidring"), "uidring gave an id twice");
            }
        }
    }
    println!("Checked for duplicates: {checked} ids");
}
