// Opens a generator on a new file, where nobody or somebody listens to events.
//
//     listens.mjs FILE [NAME]

import { UidGenerator, events } from 'uidring';

const [file, name] = process.argv.slice(2);
if (name) events.on(name, (event) => console.log(JSON.stringify(event)));
const uids = await UidGenerator.open(file, { lease: '10m' });
await uids.close();
// An event comes in a moment later than the answer.
const end = Date.now() + 1000;
const wait = setInterval(() => Date.now() > end && clearInterval(wait), 50);
