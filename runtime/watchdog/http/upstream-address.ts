import { connect, createServer } from "node:net";

import { FailureError } from "../failure-error.ts";
import { reservePort } from "./port-reservation.ts";

/** Where the long-running process of mode `http` listens. */
export interface UpstreamAddress {
  readonly host: string;
  readonly port: number;
  /** The port was chosen here; the process finds it in `PORT`. */
  readonly chosen: boolean;
}

/** Below the ephemeral ports: an outgoing connection could take one of those in the meantime. */
const firstPort = 20_000;
const ports = 12_000;
const attempts = 50;

/**
 * The address in `upstreamUrl`; without one, the process's own `PORT` if it has one; without both, or with port 0, a
 * free port of this host. No other watchdog gets it while this one runs.
 * @throws FailureError `CannotRun` for a URL that cannot be used, `PortInUse` when something listens there already, or
 *   another watchdog starts a process that will
 */
export async function chooseUpstream(
  upstreamUrl: string | undefined,
  ownPort: string | undefined,
): Promise<UpstreamAddress> {
  const { host, port } = readAddress(upstreamUrl ?? `http://127.0.0.1:${ownPort ?? 0}`);
  if (port === 0) return { host, port: await freePort(host), chosen: true };
  if (!(await reservePort({ host, port })) || (await accepts({ host, port }))) {
    throw new FailureError(
      "PortInUse",
      `Cannot start the process: port ${port} is in use on this host; leave upstream_url out and listen on $PORT to run several replicas`,
    );
  }
  return { host, port, chosen: false };
}

/** Whether something accepts connections there. */
export function accepts({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    const end = (outcome: boolean): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.on("error", () => end(false));
  });
}

function readAddress(text: string): { host: string; port: number } {
  const [, bracketed, unbracketed, port] =
    /^http:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^\s/?#@:[\]]+))(?::(\d{1,5}))?\/?$/.exec(text) ?? [];
  const host = bracketed ?? unbracketed;
  const number = Number(port ?? 80);
  if (host === undefined || number > 65_535) {
    throw new FailureError("CannotRun", `Cannot read upstream_url "${text}": expected http://host:port without a path`);
  }
  return { host, port: number };
}

async function freePort(host: string): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = firstPort + Math.floor(Math.random() * ports);
    if ((await reservePort({ host, port })) && (await canListen(host, port))) return port;
  }
  throw new FailureError("CannotRun", `Cannot start the process: found no free port on ${host}`);
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
