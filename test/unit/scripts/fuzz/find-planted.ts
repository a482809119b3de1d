import { parentPort } from "node:worker_threads";

import { Coverage } from "../../../../scripts/fuzz/coverage.ts";
import { fuzz } from "../../../../scripts/fuzz/fuzz.ts";
import type { FuzzTarget } from "../../../../scripts/fuzz/fuzz-target.ts";

// In its own thread, as the test runner rewrites the code that it loads, and V8 would count that.
const coverage = new Coverage("/planted.ts");
coverage.start();
const { planted } = await import("./planted.ts");
const target: FuzzTarget = { name: "planted", promises: "", maxBytes: 64, words: [], seeds: ["----"], run: planted };
// It ends with the find, which takes one second on an idle machine.
const outcome = await fuzz(target, { seconds: 45, seed: 1, corpus: [], coverage, onRun: () => {}, mostFinds: 1 });
coverage.close();
parentPort?.postMessage(outcome, []);
