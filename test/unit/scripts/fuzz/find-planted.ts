import { parentPort } from "node:worker_threads";

import { Coverage } from "../../../../scripts/fuzz/coverage.ts";
import { fuzz } from "../../../../scripts/fuzz/fuzz.ts";
import type { FuzzTarget } from "../../../../scripts/fuzz/fuzz-target.ts";

// In a thread of its own, as the test runner rewrites what it loads, and V8 would count that.
const coverage = new Coverage("/planted.ts");
coverage.start();
const { planted } = await import("./planted.ts");
const target: FuzzTarget = { name: "planted", promises: "", maxBytes: 64, words: [], seeds: ["----"], run: planted };
// It ends with the find, which takes a second where nothing else runs.
const outcome = await fuzz(target, { seconds: 45, seed: 1, corpus: [], coverage, onRun: () => {}, mostFinds: 1 });
coverage.close();
parentPort?.postMessage(outcome, []);
