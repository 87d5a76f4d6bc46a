//! What the pages are answered.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use serde_json::Value;
use uidring_layouts_wasm::answer;

fn asked(request: &Value) -> Value {
    serde_json::from_str(&answer(&request.to_string())).unwrap()
}

#[test]
fn numbers_are_strings() {
    let answer = asked(&serde_json::json!({
        "ask": "apart", "id": "1256557484213448722", "preset": "twitter",
        "now_ms": "1795651200000",
    }));
    let record = &answer["record"];
    assert_eq!(record["time"], "2020-05-02T12:13:44.602Z");
    assert_eq!((&record["worker"], &record["sequence"]), (&"619".into(), &"18".into()));
    assert_eq!(answer["doubt"], Value::Null);
    let of_default = &answer["presets"][0];
    assert_eq!(
        (&of_default["name"], &of_default["doubt"]),
        (&"default".into(), &"in_future".into())
    );
}

#[test]
fn what_is_wrong_is_told_by_its_field() {
    for (field, value) in
        [("id", "12x"), ("id", ""), ("preset", "leav"), ("layout", "1,2"), ("epoch", "soon")]
    {
        let mut request = serde_json::json!({ "ask": "apart", "id": "1", "now_ms": "1" });
        request[field] = value.into();
        assert_eq!(asked(&request)["problem"]["field"], field, "{value}");
    }
    assert_eq!(asked(&serde_json::json!([]))["problem"]["field"], "ask");
}

fn planned(rate: &str, nodes: &str, years: &str) -> Value {
    let request = serde_json::json!({
        "ask": "plan", "rate": rate, "nodes": nodes, "years": years,
        "now_ms": "1795651200000",
    });
    serde_json::from_str(&answer(&request.to_string())).unwrap()
}

#[test]
fn a_layout_is_planned() {
    let plan = planned("2k", "20", "20");
    let first = &plan["report"]["recommended"];
    assert_eq!(first["fits"], true);
    assert_eq!(first["tick_ms"], "1000");
    assert_eq!(plan["reductions"], serde_json::json!([]));
}

#[test]
fn what_is_too_much_is_reduced() {
    let plan = planned("1M", "100000", "100");
    assert_eq!(plan["report"]["fits"], false);
    assert_eq!(plan["reductions"][0][0]["what"], "years");
    assert_eq!(planned("0", "1", "1")["problem"]["field"], "rate");
}
