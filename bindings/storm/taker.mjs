// Takes UIDs from the store at its first argument, with the options after it, and writes them to
// its output, eight bytes each, until its input ends or it is killed.

import { writeSync } from 'node:fs';

import { UidGenerator } from 'uidring';

const camelCase = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const [, , address, ...texts] = process.argv;
const options = texts.map((text) => {
  const end = text.indexOf('=');
  const value = text.slice(end + 1);
  return [camelCase(text.slice(0, end)), value === 'true' ? true : value];
});
const uids = await UidGenerator.open(address, Object.fromEntries(options));
const batch = new BigInt64Array(1000);
const turns = setInterval(() => {
  for (let index = 0; index < 500; index++) batch[index] = uids.take();
  uids.fill(batch.subarray(500));
  // The whole of it, before anything else is taken.
  const bytes = new Uint8Array(batch.buffer);
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
}, 5);
process.stdin.resume().on('end', async () => {
  clearInterval(turns);
  await uids.close();
});
