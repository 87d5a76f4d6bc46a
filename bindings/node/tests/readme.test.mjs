// The programs of the README and of the page on tests run, but for the path of the store.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { newFile } from './support.mjs';

const pages = ['../README.md', '../../../docs/testing.md']
  .map((page) => readFileSync(new URL(page, import.meta.url), 'utf8'));
const blocks = [...pages.join('\n').matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block);

test('the pages have programs', () => assert.ok(blocks.length >= 3));

for (const [at, block] of blocks.entries()) {
  test(`program ${at + 1} of the pages runs`, (t) => {
    // Here it finds the package.
    const program = fileURLToPath(new URL(`programs/readme-${at + 1}.mjs`, import.meta.url));
    t.after(() => rmSync(program));
    writeFileSync(program, block.replaceAll('/srv/uidring.db', newFile(t)));
    execFileSync(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  });
}
