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

/** What proxy and gateway made of framings. */
export interface FramingCounts {
  /** Requests that the proxy read, also those that it answered itself. */
  readonly read: number;
  /** Requests that the proxy sent to the gateway. */
  readonly sent: number;
  /** Bodies of uploads that a slow function got whole. */
  readonly uploads: number;
  /** Requests that only one of the two counted, and answers and bodies that came to another's place, one sentence each. */
  readonly differences: readonly string[];
}

const atOnce = 64;
/** Silence after which a client that gets no more answers ends its side, milliseconds. */
const quiet = 1_000;
/** Longest a connection may last after that. */
const patience = 10_000;

/**
 * Sends framings through a proxy to a gateway, each on a connection of its own, and compares the proxy's access log with
 * the requests that the gateway's parsers saw. `uploads` go through the same proxy to a function that reads slowly, again
 * and again until the framings are over.
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
        const said = await converse(proxy.port, next.value);
        if (said !== undefined) differences.push(said);
      }
    };
    const through = { port: proxy.port, deploy: gateway.deploy };
    const sending = Promise.all(Array.from({ length: atOnce }, sendNext)).finally(() => (going = false));
    while (going && uploads !== undefined) {
      const by = uploaded % 2 === 0 ? "length" : "chunks";
      const { faults } = await sendToSlowFunction(through, { ...uploads, by });
      differences.push(...faults);
      uploaded += uploads.transfers - faults.length;
    }
    await sending;
    // A line is written when its request is over, which the client need not wait for.
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

/** `METHOD target` of a request line, however the client wrote it. */
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

/** Sends a framing and reads what comes; the sentence if an answer is another connection's. */
async function converse(port: number, { name, pieces }: Framing): Promise<string | undefined> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1"))).on("error", () => {});
  for (const piece of pieces) {
    socket.write(Buffer.from(piece, "latin1"));
    await turn();
  }
  await closed(socket);
  const sent = pieces.join("");
  const answered = parseReplies(text, true).flatMap(({ body }) => /^[A-Z]+ \/(\S*)$/.exec(body)?.[1] ?? []);
  const other = answered.find((rest) => !sent.includes(rest));
  return other === undefined ? undefined : `${name} got the answer to ${other}`;
}

/** Ends our side after a silence; resolves when the connection is closed. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) {
      resolve();
      return;
    }
    const end = setTimeout(() => socket.end(), quiet);
    const destroy = setTimeout(() => socket.destroy(), patience);
    socket.on("data", () => end.refresh());
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(end);
      clearTimeout(destroy);
      resolve();
    });
  });
}
