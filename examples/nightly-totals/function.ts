import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Lines of the form `<day>,<order>,<cents>`. */
const file = join(import.meta.dirname, "orders.csv");

/** The day in the body, as in 2026-03-14; without one it is yesterday (UTC). */
function dayIn(body: string, now: number): string {
  return body.trim() || new Date(now - 86_400_000).toISOString().slice(0, 10);
}

const day = dayIn(await text(process.stdin), Date.now());
const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.split(","));
const cents = lines.filter(([each]) => each === day).map(([, , amount]) => Number(amount));
if (cents.length > 0) {
  const total = cents.reduce((sum, amount) => sum + amount, 0) / 100;
  console.log(JSON.stringify({ day, orders: cents.length, total: total.toFixed(2) }));
} else {
  // The reply is 500: the call waits, and runs again.
  console.error(`The orders of ${day} are not there yet`);
  process.exitCode = 1;
}
