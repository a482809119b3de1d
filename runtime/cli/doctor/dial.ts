import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type ConnectionOptions } from "node:tls";

import { formatDuration } from "../../api/duration.ts";
import { unbracketed } from "./proxy-for.ts";

/** How long one step may take (milliseconds), and what ends it. */
export interface StepBounds {
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** A host by name or address, without brackets. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** What the other side shows. */
export interface ShownCertificate {
  /** Unix milliseconds. */
  readonly validTo: number;
  /** Why it is not trusted; undefined if it is. */
  readonly distrust: Error | undefined;
}

/** The addresses of a name. */
export async function lookUp(host: string, bounds: StepBounds): Promise<readonly string[]> {
  return inTime(async (signal) => {
    const found = await Promise.race([lookup(host, { all: true }), aborted(signal)]);
    return found.map(({ address }) => address);
  }, bounds);
}

/** A TCP connection; the caller destroys it. */
export async function openSocket({ host, port }: HostPort, bounds: StepBounds): Promise<Socket> {
  return inTime(async (signal) => {
    const socket = connectTcp({ host, port });
    try {
      await once(socket, "connect", { signal });
      return socket;
    } catch (err) {
      socket.destroy();
      throw err;
    }
  }, bounds);
}

/** A connection through a proxy, by CONNECT; the caller destroys it. */
export async function openTunnel(proxy: URL, { host, port }: HostPort, bounds: StepBounds): Promise<Socket> {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const user = decodeURIComponent(proxy.username);
  const credentials = Buffer.from(`${user}:${decodeURIComponent(proxy.password)}`).toString("base64");
  return inTime(async (signal) => {
    const request = (proxy.protocol === "https:" ? requestHttps : requestHttp)({
      host: unbracketed(proxy.hostname),
      port: urlPort(proxy),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...(user === "" ? {} : { "proxy-authorization": `Basic ${credentials}` }) },
      agent: false,
      signal,
    });
    request.end();
    const [reply, socket] = (await once(request, "connect", { signal })) as [IncomingMessage, Socket];
    if (reply.statusCode === 200) return socket;
    socket.destroy();
    throw new Error(`it replied ${reply.statusCode ?? ""} to CONNECT ${target}`);
  }, bounds);
}

/** The certificate that the other side of `socket` shows as `host`; it is not verified before it is read. */
export async function readCertificate(
  socket: Socket,
  host: string,
  files: Pick<ConnectionOptions, "ca" | "cert" | "key">,
  bounds: StepBounds,
): Promise<ShownCertificate> {
  return inTime(async (signal) => {
    let mismatch: Error | undefined;
    const secure = connectTls({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...files,
      rejectUnauthorized: false,
      checkServerIdentity: (name, certificate) => (mismatch = checkServerIdentity(name, certificate)),
    });
    try {
      await once(secure, "secureConnect", { signal });
      const validTo = Date.parse(secure.getPeerCertificate().valid_to);
      return { validTo, distrust: secure.authorized ? undefined : (mismatch ?? asError(secure.authorizationError)) };
    } finally {
      secure.destroy();
    }
  }, bounds);
}

/** Port of a URL, or that of its scheme. */
export function urlPort({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** What Node.js gives as the reason is a code, not the `Error` of its type. */
function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : Object.assign(new Error(String(reason)), { code: String(reason) });
}

async function inTime<T>(act: (signal: AbortSignal) => Promise<T>, { timeout, signal }: StepBounds): Promise<T> {
  const time = new AbortController();
  const over = new Error(`no reply within ${formatDuration(timeout)}`);
  const timer = setTimeout(() => time.abort(over), timeout);
  try {
    return await act(AbortSignal.any([signal, time.signal]));
  } catch (err) {
    throw time.signal.aborted && !signal.aborted ? over : err;
  } finally {
    clearTimeout(timer);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
