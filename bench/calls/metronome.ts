// A thread that wakes its parent at even intervals: Node's timers fire at whole milliseconds only, and calls sent in
// bursts wait for each other.
import { workerData } from "node:worker_threads";

/** Times in milliseconds; `begin` is Unix time. */
export interface MetronomeData {
  readonly begin: number;
  readonly interval: number;
  readonly ticks: number;
  /** Number of ticks so far; each tick notifies its waiters. */
  readonly ticked: Int32Array;
}

const { begin, interval, ticks, ticked }: MetronomeData = workerData;
const still = new Int32Array(new SharedArrayBuffer(4));
for (let tick = 0; tick < ticks; tick++) {
  const wait = begin + tick * interval - performance.timeOrigin - performance.now();
  if (wait > 0) Atomics.wait(still, 0, 0, wait);
  Atomics.add(ticked, 0, 1);
  Atomics.notify(ticked, 0);
}
