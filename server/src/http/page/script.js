// Keeps the page up to date. What the server says goes in as text, never as HTML.
"use strict";

const EACH_MS = 1000;
const PATIENCE_MS = 5000;
const WORDS = { ok: "Healthy", warning: "Warning", down: "Down" };
const KINDS = { uids: "UIDs", snowflakes: "Leaf's snowflakes" };
const HEIGHT = 40;

const byId = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en-US");
const clock = (text) => text.slice(0, 19).replace("T", " ") + " UTC";

function say(element, text) {
    // A text that stays is not read aloud again.
    if (element && element.textContent !== text) element.textContent = text;
}

function age(seconds) {
    const s = Math.floor(seconds);
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
    return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

function health(className, text) {
    const line = byId("health");
    line.className = className;
    say(line.querySelector("strong"), className === "Gone" ? "No answer" : className);
    say(line.querySelector("span"), text);
    document.title = `${className === "Gone" ? "No answer" : className} · uidring`;
}

function facts(status) {
    const newest = (list) => grouped(list.length ? list[list.length - 1] : 0);
    say(byId("uid-rate"), newest(status.per_second.uids));
    say(byId("number-rate"), newest(status.per_second.numbers));
    say(byId("connections"), grouped(status.connections));
    for (const one of status.generators) {
        const until = one.lease_until ? `leased until ${clock(one.lease_until)}`
            : one.is_leased ? "leased" : "kept for good";
        say(worker(one.kind), `${one.worker}, ${until}`);
    }
    const { up, since, name } = status.database;
    const state = up ? "reachable" : "AWAY";
    say(byId("database"), `${state} since ${clock(since)} · ${name ?? "not reached yet"}`);
    say(byId("tag-count"), `(${grouped(status.tag_count)})`);
    say(byId("now"), clock(status.now));
}

// The place for a generator's worker id. It may have started after the page was made.
function worker(kind) {
    const there = byId(`worker-${kind}`);
    if (there) return there;
    const [box, term, text] = ["div", "dt", "dd"].map((name) => document.createElement(name));
    term.textContent = `Worker id of ${KINDS[kind] ?? kind}`;
    text.id = `worker-${kind}`;
    box.append(term, text);
    byId("database").parentElement.before(box);
    return text;
}

function line(kind, rates) {
    const top = Math.max(0, ...rates);
    const first = byId("chart").viewBox.baseVal.width + 1 - rates.length;
    const height = (rate) => HEIGHT - (rate * HEIGHT) / Math.max(1, top);
    const points = rates.map((rate, index) => `${first + index},${height(rate)}`);
    byId(`${kind}-line`).setAttribute("points", points.join(" "));
    say(byId(`${kind}-top`), grouped(top));
}

// The table: a row for each tag, which stays when the state changes.
const rows = new Map();
let tags = [];
let order = { key: "tag", down: false };

function newRow() {
    const row = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    row.append(name, ...Array.from({ length: 6 }, () => document.createElement("td")));
    const meter = document.createElement("meter");
    meter.setAttribute("aria-label", "fill");
    row.cells[1].append(meter, " ", document.createElement("span"));
    return row;
}

function fill(row, tag) {
    const cells = row.cells;
    const segment = Math.max(1, tag.segment);
    const meter = cells[1].querySelector("meter");
    const quarter = Math.floor(segment / 4);
    Object.assign(meter, { min: 0, max: segment, low: quarter, high: Math.floor(segment / 2) });
    Object.assign(meter, { optimum: segment, value: Math.min(tag.in_memory, segment) });
    say(cells[0], tag.tag);
    say(cells[1].querySelector("span"), grouped(tag.in_memory));
    say(cells[2], grouped(tag.segment));
    say(cells[3], tag.age === null ? "–" : age(tag.age));
    say(cells[4], tag.load_seconds === null ? "–" : `${(tag.load_seconds * 1000).toFixed(1)} ms`);
    say(cells[5], grouped(tag.taken));
    say(cells[6], tag.problem ?? "ok");
    cells[6].className = tag.problem ? "problem" : "";
}

function compare(one, other) {
    // What has no value comes last.
    const [a, b] = [one[order.key], other[order.key]];
    if (a === b) return one.tag < other.tag ? -1 : 1;
    if (a === null || b === null) return a === null ? 1 : -1;
    return (a < b ? -1 : 1) * (order.down ? -1 : 1);
}

function table() {
    const wanted = byId("filter").value.trim().toLowerCase();
    const shown = tags.filter((tag) => tag.tag.toLowerCase().includes(wanted)).sort(compare);
    const list = shown.map((tag) => {
        const row = rows.get(tag.tag) ?? newRow();
        rows.set(tag.tag, row);
        fill(row, tag);
        return row;
    });
    const body = byId("tags").tBodies[0];
    const isSame = list.length === body.rows.length && list.every((row, i) => row === body.rows[i]);
    if (!isSame) body.replaceChildren(...list);
    say(byId("found"), wanted ? `${grouped(shown.length)} found` : "");
    byId("no-tags")?.toggleAttribute("hidden", tags.length > 0);
}

function sortable() {
    for (const head of byId("tags").tHead.rows[0].cells) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = head.textContent;
        head.replaceChildren(button);
        button.addEventListener("click", () => {
            const key = head.dataset.key;
            order = { key, down: order.key === key ? !order.down : key === "taken" };
            for (const one of head.parentElement.cells) one.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
            table();
        });
    }
}

function events(list) {
    const items = list.map(({ at, level, text, times }) => {
        const item = document.createElement("li");
        item.className = level;
        const [time, strong, span] =
            ["time", "strong", "span"].map((name) => document.createElement(name));
        time.dateTime = at;
        time.textContent = clock(at);
        strong.textContent = level;
        span.textContent = times > 1 ? `${text} (${times} times)` : text;
        item.append(time, " ", strong, " ", span);
        return item;
    });
    const text = items.map((item) => item.textContent).join("\n");
    if (events.before !== text) byId("events").replaceChildren(...items);
    events.before = text;
}

let lastAnswer = byId("now").dateTime;

async function update() {
    try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const answer = await fetch("v1/status", { cache: "no-store", signal });
        if (!answer.ok) throw new Error(`it answered ${answer.status}`);
        const status = await answer.json();
        lastAnswer = status.now;
        health(WORDS[status.health.level], status.health.text);
        facts(status);
        line("uid", status.per_second.uids);
        line("number", status.per_second.numbers);
        tags = status.tags;
        table();
        events(status.events);
    } catch (error) {
        const why = error.message.startsWith("it answered") ? ` (${error.message})` : "";
        health("Gone", `The server does not answer${why}. `
            + `What is shown is from ${clock(lastAnswer)}.`);
    }
    setTimeout(update, EACH_MS);
}

byId("search").hidden = false;
byId("filter").addEventListener("input", table);
sortable();
update();
