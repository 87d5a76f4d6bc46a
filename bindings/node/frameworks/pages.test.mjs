// The programs of the pages on drivers and ORMs run as they stand, but for the address, with the
// packages from npm: what one prints is in its table.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';

const here = fileURLToPath(new URL('.', import.meta.url));
const pages = fileURLToPath(new URL('../../../docs/frameworks/', import.meta.url));
const servers = { pg: process.env.UIDRING_TEST_POSTGRES, mysql: process.env.UIDRING_TEST_MYSQL };

/** The blocks of a language on a page, with these addresses. */
function blocks(page, language, at) {
  const text = readFileSync(`${pages}${page}.md`, 'utf8')
    .replaceAll(/(postgres|mysql):\/\/ids@db.example.com\/shop/g, at)
    .replaceAll('/srv/', at);
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, its]) => its === language)
    .map(([, , block]) => block);
}

/** A folder that goes with the test. The packages are found from there, and git ignores it. */
function newFolder(t, name) {
  const folder = `${here}node_modules/.made/${name}/`;
  const remove = () => rmSync(folder, { recursive: true, force: true });
  remove();
  mkdirSync(folder, { recursive: true });
  t.after(remove);
  return folder;
}

/** A database that goes with the test: its address, and what asks it for rows. */
async function database(t, kind, name) {
  const connect = async (address) => {
    if (kind === 'mysql') return mysql.createConnection({ uri: address, supportBigNumbers: true });
    const client = new pg.Client(address);
    await client.connect();
    return client;
  };
  const server = await connect(servers[kind]);
  await server.query(`DROP DATABASE IF EXISTS ${name}`);
  await server.query(`CREATE DATABASE ${name}`);
  const at = new URL(servers[kind]);
  at.pathname = name;
  const client = await connect(at.href);
  t.after(async () => {
    await client.end();
    await server.query(`DROP DATABASE ${name}`);
    await server.end();
  });
  const query = async (sql) => {
    const answer = await client.query(sql);
    return answer.rows ?? answer[0];
  };
  return { at: at.href, query };
}

/** Runs a program twice, and holds what it prints against the rows of its table. */
async function printsWhatItStores(program, query, table) {
  const printed = [1, 2].map(() => JSON.parse(ran(process.execPath, [program])));
  for (const { id } of printed) assert.match(id, /^[1-9][0-9]{15,18}$/);
  const numbers = printed.map(({ number }) => number.split('-')[1]);
  assert.deepEqual(numbers, ['00001', '00002']);
  const rows = await query(`SELECT id, number FROM ${table} ORDER BY id`);
  assert.deepEqual(
    rows.map(({ id, number }) => ({ id: String(id), number })),
    printed,
  );
}

const ran = (command, given, options = {}) =>
  execFileSync(command, given, { encoding: 'utf8', stdio: 'pipe', ...options });

for (const [index, driver] of ['pg', 'mysql', 'sqlite'].entries()) {
  const skip = driver === 'sqlite' || servers[driver] ? false : 'no server is named';
  test(`an order is stored by the driver of ${driver}`, { skip }, async (t) => {
    const folder = newFolder(t, driver);
    const { at, query } =
      driver === 'sqlite'
        ? { at: folder, query: (sql) => rowsOf(`${folder}shop.db`, sql) }
        : await database(t, driver, `uidring_driver_${process.pid}`);
    writeFileSync(`${folder}shop.mjs`, blocks('node-drivers', 'js', at)[index]);
    await printsWhatItStores(`${folder}shop.mjs`, query, 'orders');
  });
}

function rowsOf(file, sql) {
  const client = new Database(file).defaultSafeIntegers();
  const rows = client.prepare(sql).all();
  client.close();
  return rows;
}

for (const orm of ['prisma', 'drizzle', 'typeorm']) {
  const skip = servers.pg ? false : 'no server is named';
  test(`an order is stored by ${orm}`, { skip }, async (t) => {
    const folder = newFolder(t, orm);
    const { at, query } = await database(t, 'pg', `uidring_${orm}_${process.pid}`);
    const programs = blocks(orm, 'js', at);
    assert.equal(programs.length, 1);
    writeFileSync(`${folder}shop.mjs`, programs[0]);
    // TypeORM makes it by itself.
    const columns = '(id BIGINT PRIMARY KEY, number TEXT NOT NULL)';
    if (orm !== 'typeorm') await query(`CREATE TABLE "order" ${columns}`);
    if (orm === 'prisma') generate(folder, at);
    const program = orm === 'prisma' ? compiled(folder) : `${folder}shop.mjs`;
    await printsWhatItStores(program, query, '"order"');
  });
}

const command = (name) => `${here}node_modules/.bin/${name}`;

/** Writes what Prisma generates of the schema on its page. */
function generate(folder, at) {
  writeFileSync(`${folder}schema.prisma`, blocks('prisma', 'prisma', at)[0]);
  writeFileSync(`${folder}prisma.config.ts`, blocks('prisma', 'ts', at)[0]);
  // It would fetch the program for migrations, which is not on npm, unless it is told of one.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  ran(command('prisma'), ['generate'], { cwd: folder, env });
}

/** The program and the TypeScript that Prisma has generated, as one file. */
function compiled(folder) {
  const flags = ['--bundle', '--platform=node', '--format=esm', '--packages=external'];
  const [from, to] = [`${folder}shop.mjs`, `${folder}built.mjs`];
  ran(command('esbuild'), [from, ...flags, '--log-level=error', `--outfile=${to}`]);
  return to;
}
