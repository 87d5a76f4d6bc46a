// Takes three numbers of a tag, prints them, and ends without a close.
//
//     counts.mjs FILE

import { Segments } from 'uidring';

const segments = await Segments.open(process.argv[2]);
const tag = await segments.create('orders');
console.log(String(await tag.takeAsync()), tag.takeText(), tag.takeText());
process.exit();
