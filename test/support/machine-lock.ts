import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Held by one process of this machine at a time. */
export interface MachineLock {
  release(): Promise<void>;
}

const poll = 200;

/** Waits until nobody in this or another process of this machine holds `name`; the lock ends with the process. */
export async function machineLock(name: string): Promise<MachineLock> {
  for (;;) {
    const server = createServer();
    const acquired = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      // An abstract socket: no file remains.
      server.listen(`\0weir-test-${name}`, () => resolve(true));
    });
    if (acquired) return { release: () => new Promise((resolve) => server.close(() => resolve())) };
    await pause(poll);
  }
}
