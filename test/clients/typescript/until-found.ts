import { setTimeout as pause } from "node:timers/promises";

/** Polls `ask` until it gives a value; after 30 s it throws an error that names `what`. */
export async function untilFound<Found>(what: string, ask: () => Promise<Found | undefined>): Promise<Found> {
  for (let tries = 0; tries < 300; tries++) {
    const found = await ask();
    if (found !== undefined) return found;
    await pause(100);
  }
  throw new Error(`It took longer than 30 s until it was ${what}`);
}
