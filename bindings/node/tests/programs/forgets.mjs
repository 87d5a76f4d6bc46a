// Forgets a generator, and waits until its threads have ended.
//
//     node --expose-gc forgets.mjs FILE

import { UidGenerator } from 'uidring';
import { threads, until } from '../support.mjs';

await (async () => {
  const uids = await UidGenerator.open(process.argv[2], { lease: '10m' });
  uids.take();
})();
await until(() => {
  globalThis.gc();
  return threads().every((name) => name === 'uidring-events');
});
console.log('ended');
