import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Held by one process of this machine at a time. */
export interface MachineLock {
  release(): Promise<void>;
}

const poll = 200;

/** Waits until no other process of this machine, and nobody else in this one, holds `name`; it is let go with the process. */
export async function machineLock(name: string): Promise<MachineLock> {
  for (;;) {
    const server = createServer();
    const held = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      // A name in no directory: nothing is left of it.
      server.listen(`\0weir-test-${name}`, () => resolve(true));
    });
    if (held) return { release: () => new Promise((resolve) => server.close(() => resolve())) };
    await pause(poll);
  }
}
