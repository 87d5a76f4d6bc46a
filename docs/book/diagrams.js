// Draws the diagrams of a page in its theme, and again when the reader chooses another one.
const diagrams = [...document.querySelectorAll("pre.mermaid")];
for (const diagram of diagrams) diagram.dataset.source = diagram.textContent;

function draw() {
    const is_dark = document.documentElement.classList.contains("navy");
    mermaid.initialize({ startOnLoad: false, theme: is_dark ? "dark" : "default" });
    for (const diagram of diagrams) {
        diagram.textContent = diagram.dataset.source;
        delete diagram.dataset.processed;
    }
    mermaid.run({ nodes: diagrams });
}

// mdBook has a `theme` of its own, which another one would keep this script from running.
let was_dark = null;
function draw_in_another_theme() {
    const now = document.documentElement.classList.contains("navy");
    if (now !== was_dark) draw();
    was_dark = now;
}
new MutationObserver(draw_in_another_theme).observe(document.documentElement, {
    attributeFilter: ["class"],
});
draw_in_another_theme();
