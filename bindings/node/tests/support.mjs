// What several tests need.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of a file for a store, in a folder that goes with the test. */
export function newFile(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'uidring-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'uidring.db');
}

export const programs = fileURLToPath(new URL('programs/', import.meta.url));

/** Runs a program of the folder `programs`. Its output, and how it has ended. */
export async function run(name, args = [], options = {}) {
  const program = [path.join(programs, name), ...args];
  const child = spawn(process.execPath, [...(options.node ?? []), ...program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => (said[stream] += text));
  }
  const [code, signal] = await once(child, 'close');
  return { ...said, code, signal };
}

/** Fails where two of the ids are the same. */
export function assertDistinct(ids) {
  const distinct = new Set(ids.map(String));
  if (distinct.size !== ids.length) throw new Error(`${ids.length - distinct.size} ids came twice`);
}

/** The names of the threads of this process that are the library's. */
export function threads() {
  return readdirSync('/proc/self/task')
    .map(nameOf)
    .filter((name) => name.startsWith('uidring'));
}

function nameOf(thread) {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until `is` returns true. */
export async function until(is) {
  while (!(await is())) await sleep(20);
}
