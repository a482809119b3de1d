import { say } from "./say.ts";

/** Prints a measurement for one of the promises of `docs/contributing/promises-measured.md`. */
export function figure(promise: `S${number}`, sentence: string): void {
  say(`${promise}: ${sentence}`);
}

/** Formats milliseconds: `0.8 ms`, `120 ms`, `3.4 s`. */
export function inWords(milliseconds: number): string {
  if (milliseconds >= 1_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}
