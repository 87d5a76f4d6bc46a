// Writes ids of a generator to a file, one on each line, until it is ended.
//
//     node recipe.js GENERATOR FILE [NUMBER [SECOND HALF]]
//     node recipe.js GENERATOR FILE lend ADDRESS LEASE REST
//
// The number is what tells one process from others. The program lends itself one from the store at
// the address, or is told it. Without it, the generators take 1, or 0 and 1.
const fs = require('node:fs');
const { Snowflake } = require('@sapphire/snowflake');
const SnowflakeId = require('snowflake-id').default;

/** What makes ids with a number of 10 bits. @sapphire/snowflake has it in two halves. */
const generators = {
  'snowflake-id': (number) => {
    const ids = new SnowflakeId(number === undefined ? {} : { mid: number });
    return () => ids.generate();
  },
  sapphire: (number, half) => {
    const ids = new Snowflake(new Date('2026-01-01'));
    if (number !== undefined) {
      ids.workerId = half === undefined ? number >> 5 : number;
      ids.processId = half ?? number & 31;
    }
    return () => ids.generate();
  },
};

/** A generator whose number is lent to it for as long as it makes ids. */
async function lent(name, address, lease, rest) {
  const { WorkerId } = require('uidring');
  const onLoss = ({ text }) => {
    console.error(text);
    process.exit(1);
  };
  const worker = await WorkerId.lend(address, name, 10, { lease, rest, onLoss });
  process.once('SIGTERM', async () => {
    clearInterval(writing);
    await worker.close();
  });
  const next = generators[name](worker.id);
  return () => {
    if (!worker.isHeld) throw new Error('the number is lost');
    return next();
  };
}

let writing;
async function main(name, file, ...given) {
  const isLent = given[0] === 'lend';
  const next = isLent
    ? await lent(name, ...given.slice(1))
    : generators[name](...given.map(Number));
  writing = setInterval(() => {
    const lines = Array.from({ length: 200 }, () => `${next()}\n`);
    fs.appendFileSync(file, lines.join(''));
  }, 2);
}
main(...process.argv.slice(2));
