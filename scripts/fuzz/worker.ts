import { parentPort, workerData } from "node:worker_threads";

import { Coverage } from "./coverage.ts";
import { fuzz, kindOf, runInput, type Find, type FuzzOutcome } from "./fuzz.ts";
import { progressOf } from "./progress.ts";
import type { Order } from "./run-target.ts";

const order = workerData as Order;
const coverage = new Coverage("/runtime/");
const progress = progressOf(order.shared);
const unexpected: Find[] = [];
let current: Uint8Array = new Uint8Array(0);

const notice = (err: unknown): void => {
  const sentence = `Not caught: ${err instanceof Error ? (err.stack ?? err.message) : String(err)}`;
  if (!unexpected.some((find) => kindOf(find.sentence) === kindOf(sentence)))
    unexpected.push({ input: current, sentence });
};
process.on("uncaughtException", notice);
process.on("unhandledRejection", notice);

const onRun = (input: Uint8Array): void => {
  current = input;
  progress.note(input);
};

coverage.start();
// Only now, so that it is covered block by block.
const { targetNamed } = await import("./targets.ts");
const target = targetNamed(order.target);
const close = await target.open?.();
const outcome =
  order.replay === undefined ? await fuzz(target, { ...order, coverage, onRun }) : await replay(order.replay);
await close?.();
coverage.close();
const all: FuzzOutcome = { ...outcome, finds: [...outcome.finds, ...unexpected] };
parentPort?.postMessage(all, []);

async function replay(inputs: readonly Uint8Array[]): Promise<FuzzOutcome> {
  const finds: Find[] = [];
  for (const input of inputs) {
    onRun(input);
    const sentence = await runInput(target, input);
    if (sentence !== undefined) finds.push({ input, sentence });
  }
  return { runs: inputs.length, finds, kept: [] };
}
