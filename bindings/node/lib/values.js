'use strict';
// Values of JavaScript for the library.

const { fileURLToPath } = require('node:url');
const { isDate } = require('node:util/types');
const { invalid } = require('./errors.js');

/** Also one of another context of `vm`, as tools for tests have them. */
const isUrl = (value) => typeof value?.href === 'string' && typeof value.protocol === 'string';

/** The address of a store: a text, or a URL. */
function address(value) {
  if (typeof value === 'string') return value;
  if (isUrl(value)) {
    return value.protocol === 'file:' ? fileURLToPath(value) : String(value);
  }
  throw invalid(`an address is a text or a URL, and not of the type ${typeof value}`);
}

function optionText(name, value) {
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  if (isDate(value) && !Number.isNaN(value.getTime())) return value.toISOString();
  if (isUrl(value)) return address(value);
  throw invalid(
    `the option ${name} is a text, a number, a valid Date, true or false, and not of the type ` +
      typeof value,
  );
}

/** Options as the library reads them: names and values, one after the other. */
function options(given = {}) {
  if (typeof given !== 'object' || given === null) {
    throw invalid(`options are an object such as { lease: '10m' }, and not ${String(given)}`);
  }
  return Object.entries(given)
    .filter(([, value]) => value !== undefined && value !== null)
    .flatMap(([name, value]) => [name, optionText(name, value)]);
}

/** A whole number. `what` says what it is, as "a UID is a whole number from 1 on". */
function whole(what, value) {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  throw invalid(`${what}, as a bigint or a text of digits, and not ${String(value)}`);
}

const uid = (value) => whole('a UID is a whole number from 1 to 9223372036854775807', value);

function count(value) {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(`a call takes 0 numbers or more, and not ${String(value)}`);
}

/** A text, such as the name of a tag. */
function text(what, value) {
  if (typeof value === 'string') return value;
  throw invalid(`${what} is a text, and not of the type ${typeof value}`);
}

/** A day: a text such as 2026-11-24. A Date is another day in another zone. */
const day = (value) => text('a date, such as 2026-11-24,', value);

/** A time, in milliseconds since 1970. */
function unixMs(value) {
  const ms = isDate(value) ? value.getTime() : value;
  if (Number.isSafeInteger(ms)) return ms;
  throw invalid(`a time is a valid Date, or milliseconds since 1970, and not ${String(value)}`);
}

/** What a UID holds. */
function parts([ms, worker, sequence]) {
  return { time: new Date(ms), worker, sequence };
}

/** The kind of database at an address. Null where a program has no transactions. */
function databaseOf(at) {
  const scheme = /^(?:jdbc:)?([a-z]+):\/\//.exec(at)?.[1];
  if (scheme === undefined) return 'sqlite';
  if (scheme.startsWith('postgres')) return 'postgres';
  return scheme === 'mysql' || scheme === 'mariadb' ? 'mysql' : null;
}

module.exports = {
  address,
  count,
  databaseOf,
  day,
  options,
  parts,
  text,
  uid,
  unixMs,
  whole,
};
