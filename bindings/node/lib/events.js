'use strict';
// Events for operators.

const { EventEmitter } = require('node:events');
const native = require('./native.js');
const { door, hear } = require('./calls.js');

const events = new EventEmitter();
const own = new Set(['newListener', 'removeListener']);
const listens = () =>
  native.listen(
    door,
    events.eventNames().some((name) => !own.has(name)),
  );

events.on('newListener', (name) => own.has(name) || native.listen(door, true));
events.on('removeListener', listens);

hear(([level, name, text, unixMs, ...rest]) => {
  const fields = {};
  for (let at = 0; at < rest.length; at += 3) {
    fields[rest[at]] = rest[at + 1] === 'number' ? Number(rest[at + 2]) : rest[at + 2];
  }
  const event = { level, name, text, time: new Date(Number(unixMs)), fields };
  const heard = [events.emit(name, event), events.emit('event', event)].includes(true);
  // Somebody has to learn of it where the program does not listen.
  if (!heard && (level === 'error' || level === 'warn')) {
    process.emitWarning(text, { type: 'UidringWarning', code: name });
  }
});

module.exports = { events };
