import { setTimeout as pause } from "node:timers/promises";

import type { BuiltGateway } from "./build-gateway.ts";

/** Waits the time between being unready and refusing connections, still serving. */
export async function drainGateway(gateway: BuiltGateway, shutdownDelay: number): Promise<void> {
  gateway.drain();
  await pause(shutdownDelay);
}
