// Gapless numbers, in the transactions of pg, mysql2, better-sqlite3 and node:sqlite.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import { inspect } from 'node:util';

import mysql from 'mysql2/promise';
import pg from 'pg';
import { Series, UidGenerator, isTransient } from 'uidring';
import { newFile } from './support.mjs';

const require = createRequire(import.meta.url);
const unique = `n${Date.now()}${Math.floor(Math.random() * 1e6)}`;

/** The module, or undefined where this Node.js has none, or it is not compiled. */
function optional(name, make) {
  try {
    return make(require(name));
  } catch {
    return undefined;
  }
}

const betterSqlite = optional('better-sqlite3', (Database) => {
  new Database(':memory:').close();
  // Two that wait for each other on one thread would wait for ever.
  return (file) => new Database(file, { timeout: 0 });
});
const nodeSqlite = optional(
  'node:sqlite',
  ({ DatabaseSync }) =>
    (file) =>
      new DatabaseSync(file),
);

/** A database with documents, and how its driver is asked. */
const shops = {
  pg: process.env.UIDRING_TEST_POSTGRES && {
    database: 'postgres',
    address: () => process.env.UIDRING_TEST_POSTGRES,
    async connect(address) {
      const client = new pg.Client(address);
      await client.connect();
      const query = (sql, values) => client.query(sql, values);
      return {
        client,
        query,
        rows: async (sql) => (await query(sql)).rows,
        end: () => client.end(),
      };
    },
    place: '$1',
  },
  mysql2: process.env.UIDRING_TEST_MYSQL && {
    database: 'mysql',
    address: () => process.env.UIDRING_TEST_MYSQL,
    async connect(address) {
      const client = await mysql.createConnection({ uri: address, supportBigNumbers: true });
      const query = (sql, values) => client.query(sql, values);
      return { client, query, rows: async (sql) => (await query(sql))[0], end: () => client.end() };
    },
    place: '?',
  },
  'better-sqlite3': betterSqlite && sqlite(betterSqlite),
  'node:sqlite': nodeSqlite && sqlite(nodeSqlite),
};

function sqlite(open) {
  return {
    database: 'sqlite',
    address: newFile,
    async connect(address) {
      const client = open(address);
      return {
        client,
        query: async (sql, values = []) => client.prepare(sql).run(...values),
        rows: async (sql) => client.prepare(sql).all(),
        end: async () => client.close(),
      };
    },
    place: '?',
  };
}

for (const [driver, shop] of Object.entries(shops)) {
  const skip = shop ? false : 'there is no such driver or server here';
  test(`numbers are counted in transactions of ${driver}`, { skip }, (t) => count(t, driver, shop));
}

for (const [driver, shop] of Object.entries(shops)) {
  const skip = shop ? false : 'there is no such driver or server here';
  test(`an id is stored and read by ${driver}`, { skip }, async (t) => {
    const uids = await UidGenerator.fixed(7);
    const { client, query, rows, end } = await shop.connect(shop.address(t));
    const [table, ids] = [`${unique}_ids`, uids.takeMany(5)];
    await query(`CREATE TABLE ${table} (id BIGINT PRIMARY KEY)`);
    for (const id of ids) await query(`INSERT INTO ${table} VALUES (${shop.place})`, [id]);
    const sql = `SELECT id FROM ${table} ORDER BY id`;
    const statement = shop.database === 'sqlite' ? client.prepare(sql) : undefined;
    statement?.safeIntegers?.();
    statement?.setReadBigInts?.(true);
    const read = statement?.all() ?? (await rows(sql));
    assert.deepEqual(
      read.map(({ id }) => String(id)),
      [...ids].map(String),
    );
    for (const { id } of read) assert.equal(uids.parts(id).worker, 7);
    await query(`DROP TABLE ${table}`);
    await Promise.all([end(), uids.close()]);
  });
}

async function count(t, driver, { database, address, connect, place }) {
  const at = address(t);
  const [bills, shopped, table] = [`${unique}b`, `${unique}s`, `${unique}_docs`];
  const store = await Series.open(at);
  await store.create(bills, '{yyyy}-{n:5}{check:damm}', { gapless: true });
  await store.create(shopped, '{scope}-{n}', { gapless: true });
  await store.close();
  const series = Series.inTransactions(database);
  const connections = await Promise.all([connect(at), connect(at)]);
  const [{ client, query, rows, end }, other] = connections;
  await query(`CREATE TABLE ${table} (number VARCHAR(40) PRIMARY KEY)`);
  const store1 = (number, by = query) =>
    by(`INSERT INTO ${table} VALUES (${place})`, [String(number)]);

  // Outside of a transaction nothing is counted.
  await assert.rejects(series.nextIn(client, bills), (error) => {
    assert.equal(error.code, 'UIDRING_REFUSED', error.message);
    return /transaction/.test(error.message);
  });
  await query('BEGIN');
  const first = await series.nextIn(client, bills);
  assert.equal(first.value, 1n);
  await store1(first);
  await query('COMMIT');
  // A rollback leaves no gap.
  await query('BEGIN');
  assert.equal((await series.nextIn(client, bills)).value, 2n);
  await query('ROLLBACK');
  // By a function, and with a scope and a day.
  await query('BEGIN');
  assert.equal((await series.nextIn(asFunction(database, client), bills)).value, 2n);
  const scoped = await series.nextIn(client, shopped, { scope: 'shop7', date: '2026-11-24' });
  assert.deepEqual([scoped.text, scoped.scope], ['shop7-1', 'shop7']);
  await query('COMMIT');
  // Two at once: the second waits, or is told to try again.
  for (let round = 0; round < 20; round++) {
    await Promise.all(connections.map((one) => stored(series, bills, one, store1)));
  }
  const numbers = (await rows(`SELECT number FROM ${table}`)).map(({ number }) => number).sort();
  const values = await Promise.all(
    numbers.map(async (number) => (await series.parse(bills, number)).value),
  );
  // The second was given to a document that nobody has stored.
  assert.deepEqual(values, [1n, ...Array.from({ length: 40 }, (_, at) => BigInt(at + 3))]);

  // What the driver throws is the caller's.
  await query('BEGIN');
  const broken = new Error('as drivers do');
  await assert.rejects(
    series.nextIn(() => Promise.reject(broken), bills),
    broken,
  );
  await query('ROLLBACK');
  const unread = Series.inTransactions(database);
  await assert.rejects(unread.parse(bills, String(first)), { code: 'UIDRING_INVALID_ARGUMENT' });
  await query('BEGIN');
  await unread.readIn(client, bills);
  await query('COMMIT');
  assert.equal((await unread.parse(bills, String(first))).value, 1n);
  if (database === 'sqlite') {
    await query('BEGIN');
    assert.equal(series.nextInSync(client, bills).value, 43n);
    await query('COMMIT');
    // The library's copy of SQLite and the program's would undo each other's locks.
    await assert.rejects(
      Series.open(at).then((opened) => opened.next(bills)),
      {
        code: 'UIDRING_REFUSED',
      },
    );
  } else {
    // Series of a store count as well.
    const opened = await Series.open(at);
    await query('BEGIN');
    assert.equal((await opened.nextIn(client, bills)).value, 43n);
    await query('COMMIT');
    await opened.close();
    await assert.rejects(series.nextIn({}, bills), { code: 'UIDRING_INVALID_ARGUMENT' });
  }
  await query(`DROP TABLE ${table}`);
  await end();
  await other.end();
}

/** As a program may write it for a driver that the package does not know. */
function asFunction(database, client) {
  if (database === 'postgres') {
    return async (text, values) => (await client.query({ text, values, rowMode: 'array' })).rows;
  }
  if (database === 'mysql') {
    return async (sql, values) => (await client.query({ sql, values, rowsAsArray: true }))[0];
  }
  return (sql, values) => {
    const statement = client.prepare(sql);
    return /^\s*(SELECT|WITH)|RETURNING/i.test(sql)
      ? statement.all(...values)
      : statement.run(...values) && [];
  };
}

/** Counts a number and stores a document with it, and tries again where that may help. */
async function stored(series, name, { client, query }, store) {
  for (;;) {
    await query('BEGIN');
    try {
      await store(await series.nextIn(client, name), query);
      await query('COMMIT');
      return;
    } catch (error) {
      await query('ROLLBACK').catch(() => {});
      if (!isTransient(error)) throw error;
    }
  }
}

test('a number is counted by a connection of its kind of database alone', async (t) => {
  for (const wrong of [null, 7, {}, new pg.Pool()]) {
    const series = Series.inTransactions('postgres');
    await assert.rejects(series.nextIn(wrong, 'bills'), { code: 'UIDRING_INVALID_ARGUMENT' });
  }
  assert.throws(() => Series.inTransactions('oracle'), { code: 'UIDRING_INVALID_ARGUMENT' });
  const opened = await Series.open(newFile(t));
  const run = () => assert.fail('nothing is asked');
  await assert.rejects(opened.nextIn(run, 'bills'), { code: 'UIDRING_REFUSED' });
  await opened.close();
});

test('what another transaction may not meet is known', () => {
  const adapter = (cause) => ({ driverAdapterError: { cause } });
  const own = {};
  own.cause = own;
  const with_ = (fields) => Object.assign(new Error('of a driver'), fields);
  for (const [fields, is] of [
    [{ code: '40P01' }, true],
    [{ code: '23505' }, false],
    [{ code: 'ER_LOCK_DEADLOCK', errno: 1213, sqlState: '40001' }, true],
    [{ code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000' }, false],
    [{ code: 'SQLITE_BUSY' }, true],
    [{ code: 'SQLITE_CONSTRAINT_UNIQUE' }, false],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 5 }, true],
    [{ code: 'ECONNRESET' }, true],
    // As Drizzle and Prisma wrap it.
    [{ cause: { code: '40P01' } }, true],
    [{ cause: { code: '23505' } }, false],
    [{ code: 'P2034' }, true],
    [{ code: 'P2010', meta: adapter({ originalCode: '40001' }) }, true],
    [{ code: 'P2010', meta: adapter({ originalCode: 'SQLITE_BUSY' }) }, true],
    [{ code: 'P2010', meta: adapter({ kind: 'TransactionWriteConflict' }) }, true],
    [{ code: 'P2010', meta: adapter({ originalCode: '23505' }) }, false],
    [own, false],
    [{}, false],
  ]) {
    assert.equal(isTransient(with_(fields)), is, inspect(fields));
  }
  assert.equal(isTransient(undefined), false);
});
