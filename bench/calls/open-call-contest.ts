import { join } from "node:path";

import { openServer, type Server } from "../background.ts";
import type { Contest } from "../bench-row.ts";
import { pinned } from "../tools.ts";
import { openNginx, tinyFunction } from "./nginx.ts";

/** Weir's gateway and its peer share the first core in turns; load and function share the second. */
export const cores = { measured: 0, rest: 1 } as const;

/** How one contest of synchronous calls differs from another. */
export interface CallContest {
  /** Starts the function on the core of the rest; one that answers everything with 1 KiB of text when absent. */
  readonly openFunction?: () => Promise<Server>;
  /** Starts what stands in front of the function on the measured core; the function itself is the peer when absent. */
  readonly openPeer?: (functionPort: number) => Promise<Server>;
  /** Is told where the function answers by way of Weir, before anything is measured. */
  readonly prepare?: (weir: string) => Promise<void>;
  /** One measurement of the function that answers at `url`. */
  readonly measure: (url: string) => Promise<number>;
}

/**
 * Starts a function, a gateway in front of it and a peer, and measures both with the same load.
 * @throws BenchSkipped when nginx is needed and not to be had
 */
export async function openCallContest(options: CallContest): Promise<Contest> {
  const { openFunction = () => openTinyFunction(cores.rest), openPeer, prepare, measure } = options;
  await using opened = new AsyncDisposableStack();
  const open = async (server: Promise<Server>): Promise<number> => {
    const { port, close } = await server;
    opened.defer(close);
    return port;
  };
  const functionPort = await open(openFunction());
  const peerPort = openPeer === undefined ? functionPort : await open(openPeer(functionPort));
  const weir = weirUrl(await open(openGateway(functionPort, cores.measured)));
  await prepare?.(weir);
  const kept = opened.move();
  return {
    weir: () => measure(weir),
    peer: () => measure(`http://127.0.0.1:${peerPort}/`),
    close: () => kept.disposeAsync(),
  };
}

/** Starts an nginx on one core that answers everything with 1 KiB of text. */
export function openTinyFunction(core: number): Promise<Server> {
  return openNginx(core, tinyFunction("x".repeat(1_024)));
}

/** Starts a gateway process on one core, in front of one function; `within` may bound what it gets of the core. */
export function openGateway(
  functionPort: number,
  core: number,
  within = (command: readonly string[]): readonly string[] => command,
): Promise<Server> {
  const main = join(import.meta.dirname, "bench-gateway.ts");
  return openServer(within(pinned(core, [process.execPath, main, `127.0.0.1:${functionPort}`])));
}

/** Where the function answers by way of a gateway of {@link openGateway}. */
export function weirUrl(gatewayPort: number): string {
  return `http://127.0.0.1:${gatewayPort}/function/tiny`;
}
