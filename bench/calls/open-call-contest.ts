import { join } from "node:path";

import { openServer, type Server } from "../background.ts";
import type { Contest } from "../bench-row.ts";
import { pinned } from "../tools.ts";
import { openNginx, tinyFunction } from "./nginx.ts";

/** Weir's gateway and its peer use the first core in turns; load and function share the second. */
export const cores = { measured: 0, rest: 1 } as const;

/** Options of a contest of synchronous calls. */
export interface CallContest {
  /** Starts the function on the core `rest`; by default one that replies with 1 KiB of text. */
  readonly openFunction?: () => Promise<Server>;
  /** Starts the peer in front of the function on the core `measured`; by default the function itself is the peer. */
  readonly openPeer?: (functionPort: number) => Promise<Server>;
  /** Called with the function's URL behind Weir before the first measurement. */
  readonly prepare?: (weir: string) => Promise<void>;
  /** Measures the function at `url` once. */
  readonly measure: (url: string) => Promise<number>;
}

/**
 * Starts a function, a gateway in front of it and a peer, and measures both with the same load.
 * @throws BenchSkipped when nginx is needed and not available
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

/** Starts nginx on one core; it replies to every request with 1 KiB of text. */
export function openTinyFunction(core: number): Promise<Server> {
  return openNginx(core, tinyFunction("x".repeat(1_024)));
}

/**
 * Starts a gateway process in front of one function, on one core; `within` may limit its share of the core, `more` are
 * further arguments.
 */
export function openGateway(
  functionPort: number,
  core: number,
  within = (command: readonly string[]): readonly string[] => command,
  more: readonly string[] = [],
): Promise<Server> {
  const main = join(import.meta.dirname, "bench-gateway.ts");
  return openServer(within(pinned(core, [process.execPath, main, `127.0.0.1:${functionPort}`, ...more])));
}

/** URL of the function behind a gateway of {@link openGateway}. */
export function weirUrl(gatewayPort: number): string {
  return `http://127.0.0.1:${gatewayPort}/function/tiny`;
}
