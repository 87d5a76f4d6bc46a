'use strict';
// Numbers that are counted in the program's own transaction, by its own driver.
//
// The library says which statements to run, and the driver runs them. What the driver throws goes
// on to the caller as it is.

const native = require('./native.js');
const { UidringError, guarded, invalid } = require('./errors.js');

/** How each driver runs a statement. The columns are all texts. */
const runs = {
  postgres(client) {
    if (typeof client.query !== 'function') return undefined;
    return async (sql, values) =>
      (await client.query({ text: sql, values, rowMode: 'array' })).rows;
  },
  mysql(connection) {
    const promised = connection.promise?.() ?? connection;
    if (typeof promised.query !== 'function') return undefined;
    return async (sql, values) => {
      const [rows] = await promised.query({ sql, values, rowsAsArray: true });
      return rows;
    };
  },
  sqlite(database) {
    if (typeof database.prepare !== 'function') return undefined;
    return (sql, values) => {
      const statement = database.prepare(sql);
      // As better-sqlite3 tells of its statements, and node:sqlite by what they return.
      if (statement.reader === false) return statement.run(...values) && [];
      return statement.all(...values).map(Object.values);
    };
  },
};

/** Whether a transaction has begun, where the driver tells. Otherwise the database is asked. */
function hasBegun(transaction) {
  const tells = transaction.inTransaction ?? transaction.isTransaction;
  if (tells === false) {
    throw new UidringError(
      'UIDRING_REFUSED',
      'the connection is in no transaction, so the number would be kept where the document is ' +
        'not: begin a transaction, count in it, and store the document in it',
    );
  }
  return tells === true;
}

/** What runs statements: a function, or a connection of pg, mysql2, better-sqlite3, node:sqlite. */
function of(transaction, database) {
  if (typeof transaction === 'function') return { run: transaction, hasBegun: false };
  const isThere = typeof transaction === 'object' && transaction !== null;
  const isPool = isThere && (transaction.getConnection ?? transaction.totalCount) !== undefined;
  const run = isThere && !isPool ? runs[database](transaction) : undefined;
  if (run === undefined) {
    const what = isPool ? 'a pool' : typeof transaction;
    throw invalid(
      `a number in ${database} is counted by a connection of its driver, in a transaction, or by ` +
        `a function (sql, values) that returns rows, and not by ${what}`,
    );
  }
  return { run, hasBegun: hasBegun(transaction) };
}

const text = (value) => (value === null || value === undefined ? null : String(value));
/** A statement without rows may return anything else. */
const rowsOf = (rows) =>
  Array.isArray(rows) ? rows.map((row) => Object.values(row).map(text)) : [];
const begin = (work) => guarded(() => native.step(work, null, null));
const goOn = (work, rows) => guarded(() => native.step(work, rowsOf(rows), null));

/** Goes on with what the driver has thrown, which is the caller's unless there is another way. */
function fail(work, error) {
  const asked = guarded(() => native.step(work, null, String(error?.message ?? error)));
  if (asked === null) throw error;
  return asked;
}

async function finished(work, run) {
  let asked = begin(work);
  while (asked.sql !== undefined && asked.sql !== null) {
    let rows;
    try {
      rows = await run(asked.sql, asked.values);
    } catch (error) {
      asked = fail(work, error);
      continue;
    }
    asked = goOn(work, rows);
  }
  return asked.number;
}

/** The same by a driver that waits. */
function finishedNow(work, run) {
  let asked = begin(work);
  while (asked.sql !== undefined && asked.sql !== null) {
    let rows;
    try {
      rows = run(asked.sql, asked.values);
    } catch (error) {
      asked = fail(work, error);
      continue;
    }
    if (typeof rows?.then === 'function') {
      throw invalid('nextInSync is for drivers that wait, such as better-sqlite3: await nextIn');
    }
    asked = goOn(work, rows);
  }
  return asked.number;
}

/** The numbers of the results that SQLite's drivers tell by name. */
const SQLITE = { BUSY: 5, LOCKED: 6 };

/** The kind of database of a driver's error, and its code as the library knows it. */
function codeOf(error) {
  if (typeof error.errno === 'number' && error.sqlState !== undefined) {
    return ['mysql', String(error.errno)];
  }
  // Prisma's adapters call it so.
  const code = error.code ?? error.originalCode;
  const sqlite = /^SQLITE_([A-Z]+)/.exec(code);
  if (sqlite) return ['sqlite', String(SQLITE[sqlite[1]] ?? 1)];
  if (code === 'ERR_SQLITE_ERROR') return ['sqlite', String(error.errcode)];
  return /^[0-9A-Z]{5}$/.test(code) ? ['postgres', code] : undefined;
}

/** Of Node.js, where a connection broke. */
const BROKEN = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
]);

/** What Prisma calls a deadlock or a conflict, of any database. */
const isConflict = ({ code, kind }) => code === 'P2034' || kind === 'TransactionWriteConflict';

/** What an ORM wraps: Drizzle as the cause, Prisma in what it says of its adapter. */
const wrapped = (error) => error.cause ?? error.meta?.driverAdapterError;

/** Whether another transaction may not meet this error. */
function isTransient(error) {
  // A cause may be its own.
  for (let at = error, depth = 0; typeof at === 'object' && at && depth < 5; depth++) {
    if (at instanceof UidringError) return at.isTransient;
    if (BROKEN.has(at.code) || isConflict(at)) return true;
    const code = codeOf(at);
    if (code !== undefined && guarded(() => native.isTransient(...code))) return true;
    at = wrapped(at);
  }
  return false;
}

module.exports = { finished, finishedNow, isTransient, of };
