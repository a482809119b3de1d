import { afterEach } from "vitest";

import { freePort } from "./free-port.ts";
import { openFunctionServer, openRawFunction, type FunctionServer, type RawFunction } from "./function-server.ts";
import { openSyncGateway, type SyncGateway, type SyncGatewayOptions } from "./sync-gateway.ts";

/** Opens gateways and functions for one test each, after which they are closed in reverse order. */
export interface SyncFixture {
  open(options?: SyncGatewayOptions): Promise<SyncGateway>;
  serve(...args: Parameters<typeof openFunctionServer>): Promise<FunctionServer>;
  serveRaw(...args: Parameters<typeof openRawFunction>): Promise<RawFunction>;
  /** Also closes `thing`, and returns it. */
  closing<T extends { close(): unknown }>(thing: T): T;
}

/** Call it inside `describe`. */
export function syncFixture(): SyncFixture {
  const things: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const thing of things.splice(0).toReversed()) await thing.close();
  });
  const closing = <T extends { close(): unknown }>(thing: T): T => {
    things.push(thing);
    return thing;
  };
  return {
    closing,
    open: async (options) => closing(await openSyncGateway(options)),
    serve: async (...args) => closing(await openFunctionServer(...args)),
    serveRaw: async (...args) => closing(await openRawFunction(...args)),
  };
}

/** An address where nobody listens. */
export async function freeAddress(): Promise<string> {
  return `127.0.0.1:${await freePort()}`;
}
