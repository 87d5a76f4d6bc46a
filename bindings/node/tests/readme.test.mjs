// The programs of the README run as they stand, but for the path of the store.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { newFile } from './support.mjs';

const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block);

test('the README has programs', () => assert.ok(blocks.length >= 2));

for (const [at, block] of blocks.entries()) {
  test(`program ${at + 1} of the README runs`, (t) => {
    // Here it finds the package.
    const program = fileURLToPath(new URL(`programs/readme-${at + 1}.mjs`, import.meta.url));
    t.after(() => rmSync(program));
    writeFileSync(program, block.replaceAll('/srv/uidring.db', newFile(t)));
    execFileSync(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  });
}
