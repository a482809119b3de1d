import { readdirSync } from "node:fs";

/** Preloaded into a platform's processes: at SIGUSR2 the process logs what it holds after a garbage collection. */
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const descriptors = readdirSync("/proc/self/fd").length;
  process.stderr.write(`${JSON.stringify({ msg: "measured", memory: heapUsed + external, descriptors })}\n`);
});
