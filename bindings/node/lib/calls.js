'use strict';
// Calls that are answered later, through the door of the library.

const { clearInterval, setInterval } = require('node:timers');
const native = require('./native.js');
const { UidringError, ours } = require('./errors.js');

/** Whom an answer is for. 0 are the events. */
const waiting = new Map();
let last = 0;
/** For how many of them the program goes on. */
let awaited = 0;
/** The library keeps no program from ending. This does, while the program waits for an answer. */
let awake;
let tell = () => {};

const door = native.connect((to, code, answer) => {
  if (to === 0) {
    tell(answer);
  } else {
    waiting.get(to)?.(code === null ? null : new UidringError(code, answer), answer);
  }
});

/** Has `answered` called with each answer to the number that it returns. */
function listen(answered) {
  do {
    last = (last + 1) >>> 0;
  } while (last === 0 || waiting.has(last));
  waiting.set(last, answered);
  return last;
}

function forget(number) {
  waiting.delete(number);
}

/** The same, and the program goes on until `end` of the number. */
function begin(answered) {
  awaited += 1;
  awake ??= setInterval(() => {}, 2 ** 30);
  return listen(answered);
}

function end(number) {
  forget(number);
  awaited -= 1;
  if (awaited === 0) {
    clearInterval(awake);
    awake = undefined;
  }
}

/** A promise of the answer to what `start` asks in the name of the number that it gets. */
function ask(start) {
  const asked = {};
  Error.captureStackTrace(asked, ask);
  return new Promise((resolve, reject) => {
    const number = begin((error, answer) => {
      end(number);
      // Where the answer comes in says nothing.
      if (error) reject(Object.assign(error, { stack: calledFrom(error, asked) }));
      else resolve(answer);
    });
    try {
      start(number);
    } catch (error) {
      end(number);
      reject(ours(error));
    }
  });
}

function calledFrom(error, { stack }) {
  return `${error.name}: ${error.message}${stack.slice(stack.indexOf('\n'))}`;
}

/** Has `listener` called with each event. */
function hear(listener) {
  tell = listener;
}

module.exports = { ask, begin, door, end, forget, hear, listen };
