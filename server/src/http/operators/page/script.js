// Keeps the page up to date: asks the server for it again, and takes over what has changed. What
// stays keeps its place, the keyboard's focus and what is selected, and is not read aloud again.
"use strict";

const EACH_MS = 1000;
const PATIENCE_MS = 5000;
const TYPING_MS = 150;

const byId = (id) => document.getElementById(id);

// Makes `old` like `now`, a page that the server has escaped. Nothing in it runs: scripts in a
// parsed page do not, and the policy forbids all else.
function become(old, now) {
    if (old.nodeName !== now.nodeName) {
        old.replaceWith(now);
        return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
        if (old.data !== now.data) old.data = now.data;
        return;
    }
    for (const { name } of [...old.attributes]) {
        if (!now.hasAttribute(name)) old.removeAttribute(name);
    }
    for (const { name, value } of now.attributes) {
        if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const [before, after] = [[...old.childNodes], [...now.childNodes]];
    after.forEach((node, i) => (i < before.length ? become(before[i], node) : old.append(node)));
    before.slice(after.length).forEach((node) => node.remove());
}

function gone(why) {
    const line = byId("health");
    const text = `The server does not answer${why}. What is shown is from `
        + `${byId("now").textContent}.`;
    line.className = "Gone";
    if (line.querySelector("li").textContent !== text) {
        line.querySelector("strong").textContent = "No answer";
        const only = document.createElement("li");
        only.textContent = text;
        line.querySelector("ul").replaceChildren(only);
    }
    document.title = `No answer · ${byId("name").textContent} · uidring`;
}

let newest = 0;
let timer;

async function update() {
    clearTimeout(timer);
    const turn = ++newest;
    let why = "";
    let page = null;
    try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const answer = await fetch(location.href, { cache: "no-store", signal });
        if (!answer.ok) why = ` (it answered ${answer.status})`;
        else page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
        // It is gone.
    }
    // Somebody has asked for something else in the meantime.
    if (turn !== newest) return;
    if (page && page.getElementById("now")) {
        document.title = page.title;
        become(document.body, page.body);
    } else {
        gone(page ? " (something else does)" : why);
    }
    timer = setTimeout(update, EACH_MS);
}

// Shows the tags that `query` asks for.
function show(query) {
    history.replaceState(null, "", query || location.pathname);
    update();
}

function search() {
    const asked = new URLSearchParams(new FormData(byId("search")));
    if (!asked.get("tag")) asked.delete("tag");
    show(asked.size ? `?${asked}` : "");
}

let typing;
document.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(search, TYPING_MS);
});
document.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    search();
});
document.addEventListener("click", (event) => {
    const link = event.target.closest("#tags a, #pages a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link.getAttribute("href") === "?" ? "" : link.getAttribute("href"));
});
document.documentElement.dataset.isLive = "";
timer = setTimeout(update, EACH_MS);
