// Stores documents with gapless numbers, in transactions of pg, mysql2 or better-sqlite3, until its
// standard input ends: one of the programs of tests/gapless_storm, which says what it finds and
// what it has to do.

import { setTimeout as sleep } from 'node:timers/promises';

import { Series } from 'uidring';

const { UIDRING_STORM_DATABASE: address, UIDRING_STORM_CHILD_SEED: seed } = process.env;
const PLACES = ['invoices', 'receipts'].flatMap((series) =>
  ['north', 'south'].map((scope) => [series, scope]),
);

/** Numbers from 0 to 1, the same for the same seed. */
let state = Number(BigInt(seed) % 2147483646n) + 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const below = (end) => Math.floor(random() * end);

/** A connection, how it runs a statement, and the mark of a value at a place. */
async function connect() {
  if (address.startsWith('postgres')) {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: address, query_timeout: 4000 });
    client.on('error', () => {});
    await client.connect();
    const run = (sql, values) => client.query(sql, values);
    return { client, run, mark: (place) => `$${place}`, end: () => client.end() };
  }
  if (address.startsWith('mysql')) {
    const { default: mysql } = await import('mysql2/promise');
    const client = await mysql.createConnection({ uri: address, connectTimeout: 4000 });
    client.on('error', () => {});
    const run = (sql, values) => client.query({ sql, values, timeout: 4000 });
    return { client, run, mark: () => '?', end: () => client.destroy() };
  }
  const { default: Database } = await import('better-sqlite3');
  const client = new Database(address, { timeout: 2000 });
  const run = async (sql, values = []) => client.prepare(sql).run(...values);
  return { client, run, mark: () => '?', end: () => client.close() };
}

const database = address.startsWith('postgres')
  ? 'postgres'
  : address.startsWith('mysql')
    ? 'mysql'
    : 'sqlite';
const numbers = Series.inTransactions(database);

/** One transaction, with numbers of up to three series and scopes, in any order. */
async function count({ client, run, mark }) {
  const places = PLACES.map((place) => [random(), place])
    .sort(([a], [b]) => a - b)
    .map(([, place]) => place);
  const next = ([series, scope]) => numbers.nextIn(client, series, { scope });
  if (below(20) === 0) {
    // It is in no transaction, so this has to fail. If it does not, nobody has the number.
    await next(places[0]);
    return;
  }
  await run('BEGIN');
  for (const place of places.slice(0, 1 + below(3))) {
    if (below(5) === 0) {
      await run('SAVEPOINT a');
      await next(place);
      await run('ROLLBACK TO SAVEPOINT a');
    }
    for (let more = below(3); more >= 0; more--) {
      const number = await next(place);
      const marks = [1, 2, 3, 4, 5].map(mark).join(', ');
      const row = [...place, number.value, number.text, 'node'];
      await run(`INSERT INTO document VALUES (${marks})`, row);
    }
  }
  if (below(5) === 0) await sleep(below(30));
  await run(below(4) === 0 ? 'ROLLBACK' : 'COMMIT');
}

let isOver = false;
process.stdin.resume().on('end', () => (isOver = true));
let connection;
while (!isOver) {
  try {
    connection ??= await connect();
    await count(connection);
  } catch {
    // A deadlock, a full series, a server that is down.
    await Promise.resolve(connection?.end()).catch(() => {});
    connection = undefined;
    await sleep(5);
  }
  // What has come on the input.
  await sleep(0);
}
await Promise.resolve(connection?.end()).catch(() => {});
