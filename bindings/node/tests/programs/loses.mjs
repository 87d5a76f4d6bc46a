// Lends a worker id whose store goes away, and prints what it learns of it.
//
//     loses.mjs FILE

import { renameSync } from 'node:fs';
import { WorkerId } from 'uidring';

const [file] = process.argv.slice(2);
const wait = setInterval(() => {}, 100);
const worker = await WorkerId.lend(file, 'shop', 10, {
  lease: '3s',
  timeout: '100ms',
  onLoss(loss) {
    console.log(JSON.stringify(loss));
    clearInterval(wait);
    process.exit();
  },
});
renameSync(file, `${file}.away`);
globalThis.worker = worker;
