//! `uidring layout`.

use crate::{folder, json, stdout};

#[test]
fn layout_draws_the_bits_and_says_what_fits() {
    let page = stdout(folder().path(), &["layout"]);
    for expected in [
        " 63  62                          33 32                13 12          0\n",
        "│ 0 │ time                         │ worker             │ sequence    │\n",
        "30 bits",
        "20 bits",
        "13 bits",
        "seconds for 34 years from 2026-01-01T00:00:00Z",
        "1,048,576 ids",
        "8,192 UIDs a second",
        "ends      2060-01-10T13:37:04Z",
    ] {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    let picture: Vec<usize> =
        page.lines().skip(1).take(3).map(|line| line.chars().count()).collect();
    assert_eq!(picture, [picture[0]; 3], "\n{page}");

    let ended = stdout(folder().path(), &["layout", "--preset", "uid-generator"]);
    assert!(ended.contains("ends      2024-11-20T13:24:16Z, ended "), "{ended}");
}

#[test]
fn layout_reckons_in_ticks() {
    let options =
        ["layout", "--layout", "41,10,10", "--tick", "10ms", "--epoch", "2020-01-01T00:00:00Z"];
    let page = stdout(folder().path(), &options);
    for expected in
        ["ticks of 10 ms for 696 years", "1,024 UIDs a tick or 102,400 a second", "3 unused"]
    {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    let shown = json(&stdout(folder().path(), &[&options[..], &["--json"]].concat()));
    let expected = [
        ("time_bits", 41),
        ("worker_bits", 10),
        ("sequence_bits", 10),
        ("tick_ms", 10),
        ("workers", 1024),
    ];
    for (member, value) in expected {
        assert_eq!(shown[member], value, "{member}");
    }
    assert_eq!(shown["uids_per_second"], 102_400);
    assert_eq!(shown["epoch"], "2020-01-01T00:00:00.000Z");
    assert_eq!(shown["expired"], false);
}
