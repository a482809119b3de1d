import type { Readable } from "node:stream";

/**
 * Calls `stop` when `input` ends: it is a pipe from the process that started this one, and the system closes it
 * however that process ends.
 */
export function stopWithInput(input: Readable, stop: () => void): void {
  for (const event of ["end", "error", "close"]) input.once(event, stop);
  input.resume();
}
