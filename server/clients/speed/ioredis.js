// Prints the microseconds of an id: one by one, and a thousand at once.

const Redis = require("ioredis");

const ids = new Redis({ port: Number(process.argv[2]) });
(async () => {
  await ids.call("UID.NEXT");
  let begin = performance.now();
  for (let index = 0; index < 5000; index++) BigInt(await ids.call("UID.NEXT"));
  const one = (performance.now() - begin) / 5000;
  begin = performance.now();
  for (let index = 0; index < 100; index++) (await ids.call("UID.NEXT", 1000)).map(BigInt);
  const many = (performance.now() - begin) / 100_000;
  console.log((one * 1e3).toFixed(1), (many * 1e3).toFixed(2));
  ids.disconnect();
})();
