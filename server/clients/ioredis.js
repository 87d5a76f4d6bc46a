// ioredis: takes numbers in each way. `run` tells what is printed and what the arguments are.
const fs = require("fs");
const Redis = require("ioredis");

const [port, flag, token, ca] = process.argv.slice(2);
const client = new Redis({
  host: "localhost",
  port: Number(port),
  password: token || undefined,
  tls: ca ? { ca: fs.readFileSync(ca) } : undefined,
  maxRetriesPerRequest: null,
});
client.on("error", () => {}); // it connects again by itself

const show = (what, number) => console.log(what, String(number));
const take = async () => show("uid", await client.call("UID.NEXT"));

async function main() {
  for (let i = 0; i < 100; i++) {
    await take();
    show("orders", await client.call("TAG.NEXT", "orders"));
    show("orders", await client.incr("orders"));
    show("invoices", await client.call("SERIES.NEXT", "invoices"));
  }
  for (const uid of await client.call("UID.NEXT", 1000)) show("uid", uid);
  const pipeline = client.pipeline();
  for (let i = 0; i < 1000; i++) pipeline.call("UID.NEXT");
  for (const [error, uid] of await pipeline.exec()) {
    if (error) throw error;
    show("uid", uid);
  }
  for (const wrong of ["TAG.NEXT nobody", "UID.NEXT none", "NO.SUCH"]) {
    const words = wrong.split(" ");
    const error = await client.call(...words).then(() => null, (error) => error);
    if (!error || !error.message.includes(words[words.length - 1])) {
      throw new Error(`${wrong}: ${error}`);
    }
  }
  // What health checks ask.
  const [info, there] = [await client.info(), await client.exists("orders")];
  if (!info.includes("redis_version:") || there !== 1) throw new Error(`${there} ${info}`);
  console.log("waits");
  while (!fs.existsSync(flag)) await take();
  for (let i = 0; i < 100; i++) await take();
  client.disconnect();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
