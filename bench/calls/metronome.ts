// A thread that wakes the one that started it at even times: a timer of Node fires at whole milliseconds, and many calls
// sent at once wait for each other.
import { workerData } from "node:worker_threads";

/** What the metronome is told; times in milliseconds, the first since the epoch. */
export interface MetronomeData {
  readonly begin: number;
  readonly interval: number;
  readonly ticks: number;
  /** Counts the ticks; who waits for it to change is woken. */
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
