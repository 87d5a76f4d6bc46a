'use strict';
// What both pages need: the module, the words, and elements. Ids and numbers are texts or BigInt.

const asked = new URLSearchParams(location.search).get('lang');
let language = (asked ?? navigator.language).startsWith('zh') ? 1 : 0;

const word = (name) => WORDS[name]?.[language] ?? name;

// The module of the library, from the text of module.js. Nothing is fetched.
const bytes = Uint8Array.from(atob(MODULE), (character) => character.charCodeAt(0));
const library = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;

// The answer to a request, both of texts alone.
function ask(request) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const room = library.room(text.length);
  new Uint8Array(library.memory.buffer, room, text.length).set(text);
  const length = library.answer();
  const answer = new Uint8Array(library.memory.buffer, library.text(), length);
  return JSON.parse(new TextDecoder().decode(answer));
}

const nowMs = () => String(Date.now());

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text !== null && text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

// A table with a heading for each column. A cell is a text or an element.
function table(caption, headings, rows) {
  const cell = (name) => (value) =>
    value instanceof Node ? element(name, null, value) : element(name, value);
  const head = headings.map((text) => {
    const made = element('th', text);
    made.scope = 'col';
    return made;
  });
  const body = rows.map((row) => element('tr', null, ...row.map(cell('td'))));
  const made = element('table', null, element('caption', caption),
    element('thead', null, element('tr', null, ...head)), element('tbody', null, ...body));
  const scroll = element('div', null, made);
  scroll.className = 'scroll';
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'region');
  scroll.setAttribute('aria-label', caption);
  return scroll;
}

// Names and what they are.
function list(rows) {
  return element('dl', null, ...rows.map(([name, value]) =>
    element('div', null, element('dt', name), element('dd', value))));
}

const grouped = (number) => BigInt(number).toLocaleString(language ? 'zh-CN' : 'en');

function length(ms) {
  let rest = BigInt(ms);
  if (rest < 1000n) return `${rest} ${word('ms')}`;
  const parts = [];
  for (const [unit, size] of [['day', 86400000n], ['hour', 3600000n], ['minute', 60000n],
    ['second', 1000n]]) {
    if (rest >= size && parts.length < 2) {
      parts.push(`${(rest / size).toLocaleString('en')} ${word(unit)}`);
      rest %= size;
    }
  }
  return parts.join(' ');
}

const form = document.getElementById('form');
const result = document.getElementById('result');
const problem = document.getElementById('problem');

// What the form says, with the fields that have a text.
function filled() {
  return Object.fromEntries([...new FormData(form)].filter(([, text]) => text !== ''));
}

function tell(found) {
  for (const input of form.elements) input.removeAttribute('aria-invalid');
  if (!found) {
    problem.textContent = '';
    return;
  }
  const { field, text } = found;
  const own = word(`problem.${field}`);
  const said = language && own !== `problem.${field}` ? own : text;
  problem.textContent = said ? `${word(field)}: ${said}` : '';
  form.elements[field]?.setAttribute('aria-invalid', 'true');
}

// Shows what `draw` makes of an answer, each time something is typed.
function begin(title, request, draw) {
  const show = () => {
    const texts = filled();
    if (form.querySelector('[required]').value.trim() === '') {
      tell(null);
      result.hidden = true;
      return;
    }
    const answer = ask({ ...texts, ...request, now_ms: nowMs() });
    tell(answer.problem);
    result.hidden = Boolean(answer.problem);
    if (!answer.problem) result.replaceChildren(...draw(answer));
  };
  const speak = () => {
    document.documentElement.lang = language ? 'zh-CN' : 'en';
    document.title = `${word(title)} · uidring`;
    for (const told of document.querySelectorAll('[data-word]')) {
      told.textContent = word(told.dataset.word);
    }
    document.getElementById('language').textContent = word('language');
    for (const link of document.querySelectorAll('nav a')) {
      link.search = language ? '?lang=zh' : '?lang=en';
    }
    show();
  };
  document.getElementById('language').addEventListener('click', () => {
    language = 1 - language;
    speak();
  });
  form.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    show();
  });
  speak();
}
