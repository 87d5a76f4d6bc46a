// Opens a generator with a lease, prints its worker id, and ends without a close.
//
//     ends.mjs FILE return|exit|throw

import { UidGenerator } from 'uidring';

const [file, how] = process.argv.slice(2);
const uids = await UidGenerator.open(file, { lease: '10m' });
uids.take();
console.log(uids.workerId);
if (how === 'exit') process.exit();
if (how === 'throw') throw new Error('as programs do');
