import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";

import { eventually } from "./eventually.ts";
import type { Framing } from "./framings.ts";
import { openProxy } from "./proxy-in-front.ts";
import type { ProxyKind, ProxyLine } from "./proxy-programs.ts";
import { openFunctionServer } from "./function-server.ts";
import { openMemoryAsyncInvoker } from "./memory-async-invoker.ts";
import { parseReplies } from "./raw-client.ts";
import { sendToSlowFunction, type SlowTransfer } from "./slow-readers.ts";
import { openSyncGateway } from "./sync-gateway.ts";

/** How proxy and gateway read the framings. */
export interface FramingCounts {
  /** Requests that the proxy read, including those that it replied to itself. */
  readonly read: number;
  /** Requests that the proxy sent to the gateway. */
  readonly sent: number;
  /** Uploads that a slow function received completely. */
  readonly uploads: number;
  /** Requests that only one of the two counted, and misdelivered responses and bodies, one sentence each. */
  readonly differences: readonly string[];
}

const concurrency = 64;
/** Milliseconds without a byte after which a client ends its side. */
const idleTimeout = 1_000;
/** Maximum milliseconds from a client's last write to the end of its connection. */
const connectionTimeout = 10_000;

/**
 * Sends framings through a proxy to a gateway, each on its own connection, and compares the proxy's access log with the
 * requests that the gateway's parsers saw. Meanwhile `uploads` are repeated through the same proxy to a function that
 * reads slowly.
 */
export async function countFramings(
  kind: ProxyKind,
  framings: Iterable<Framing>,
  uploads?: SlowTransfer,
): Promise<FramingCounts> {
  const echo = await openFunctionServer((request, response) => response.end(`${request.method} ${request.url}`));
  const seen: string[] = [];
  const gateway = await openSyncGateway({
    onRequest: (request) => void seen.push(request),
    invokeAsync: (...call) => invokeAsync(...call),
    server: { headersTimeout: 10_000, bodyIdleTimeout: 10_000 },
  });
  const invokeAsync = openMemoryAsyncInvoker(gateway.table);
  gateway.deploy("echo", { addresses: [echo.address] });
  const differences: string[] = [];
  let going = true;
  let uploaded = 0;
  try {
    await using proxy = await openProxy(kind, { gateways: [gateway] });
    const waiting = framings[Symbol.iterator]();
    const sendNext = async (): Promise<void> => {
      for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
        const mismatch = await converse(proxy.port, next.value);
        if (mismatch !== undefined) differences.push(mismatch);
      }
    };
    const through = { port: proxy.port, deploy: gateway.deploy };
    const sending = Promise.all(Array.from({ length: concurrency }, sendNext)).finally(() => (going = false));
    while (going && uploads !== undefined) {
      const by = uploaded % 2 === 0 ? "length" : "chunks";
      const { faults } = await sendToSlowFunction(through, { ...uploads, by });
      differences.push(...faults);
      uploaded += uploads.transfers - faults.length;
    }
    await sending;
    // The proxy writes a line when its request ends; the client may be done before that.
    await eventually(() => difference(proxy.lines(), seen).length === 0, {
      what: "the last lines",
    }).catch(() => undefined);
    const lines = proxy.lines();
    differences.push(...difference(lines, seen));
    return {
      read: lines.length,
      sent: lines.reduce((sum, line) => sum + line.sent, 0),
      uploads: uploaded,
      differences,
    };
  } finally {
    await gateway.close();
    await echo.close();
  }
}

/** `METHOD target` of a request line in any form. */
function requestOf(line: string): string {
  const [method = "", target = ""] =
    line
      .trimStart()
      .split(/[\r\n]/, 1)[0]
      ?.split(/ +/) ?? [];
  return `${method} ${target.replace(/^https?:\/\/[^/]*/, "")}`;
}

/** Requests that were counted by one side only. */
function difference(lines: readonly ProxyLine[], seen: readonly string[]): string[] {
  const balance = new Map<string, number>();
  const add = (key: string, by: number): void => void balance.set(key, (balance.get(key) ?? 0) + by);
  for (const { request, sent } of lines) if (sent > 0) add(requestOf(request), sent);
  for (const each of seen) add(requestOf(each), -1);
  return [...balance].flatMap(([request, count]) =>
    count === 0 ? [] : [`${request}: the proxy counted ${Math.abs(count)} ${count > 0 ? "more" : "less"}`],
  );
}

/** Sends a framing and reads the responses; a sentence if one belongs to another connection. */
async function converse(port: number, { name, pieces }: Framing): Promise<string | undefined> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1"))).on("error", () => {});
  for (const chunk of pieces) {
    socket.write(Buffer.from(chunk, "latin1"));
    await turn();
  }
  await closed(socket);
  const sent = pieces.join("");
  const echoed = parseReplies(text, true).flatMap(({ body }) => /^[A-Z]+ \/(\S*)$/.exec(body)?.[1] ?? []);
  const other = echoed.find((rest) => !sent.includes(rest));
  return other === undefined ? undefined : `${name} got the answer to ${other}`;
}

/** Ends our side after the idle timeout; resolves when the connection is closed. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) {
      resolve();
      return;
    }
    const end = setTimeout(() => socket.end(), idleTimeout);
    const destroy = setTimeout(() => socket.destroy(), connectionTimeout);
    socket.on("data", () => end.refresh());
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(end);
      clearTimeout(destroy);
      resolve();
    });
  });
}
