import { setTimeout as pause } from "node:timers/promises";

import type { BuiltGateway } from "./gateway-parts.ts";

/** Keeps serving for `shutdownDelay` milliseconds, between being unready and refusing connections. */
export async function drainGateway(gateway: BuiltGateway, shutdownDelay: number): Promise<void> {
  gateway.drain();
  await pause(shutdownDelay);
}
