// Writes ids of snowflake-id to a file, one on each line, until it is ended.
//
//     node recipe.js snowflake-id FILE [NUMBER]
//
// The number is what tells one process from others. Without it, the generator takes 1.
const fs = require("node:fs");
const SnowflakeId = require("snowflake-id").default;

const [, , , file, number] = process.argv;
const ids = new SnowflakeId(number === undefined ? {} : { mid: Number(number) });
setInterval(() => {
  const lines = Array.from({ length: 200 }, () => ids.generate() + "\n");
  fs.appendFileSync(file, lines.join(""));
}, 2);
