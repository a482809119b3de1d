import { setTimeout as pause } from "node:timers/promises";

import type { Gateway } from "./build-gateway.ts";

/** Waits the time between being unready and refusing connections, still serving. */
export async function drainGateway(gateway: Gateway, shutdownDelay: number): Promise<void> {
  gateway.drain();
  await pause(shutdownDelay);
}
