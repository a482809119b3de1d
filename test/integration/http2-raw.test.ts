import { once } from "node:events";
import { connect } from "node:tls";

import { beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { selfSigned } from "../support/self-signed.ts";
import { syncFixture } from "../support/sync-fixture.ts";

type Header = readonly [name: string, value: string];

const frameType = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7 } as const;
const flag = { endStream: 1, endHeaders: 4 } as const;
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Each header as a literal (RFC 7541 §6.2.2), so nothing corrects it; texts of at most 126 bytes. */
function headersFrame(list: readonly Header[], flags: number): Buffer {
  const text = (value: string): Buffer => Buffer.from([value.length, ...Buffer.from(value, "latin1")]);
  const block = list.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]);
  return frame(frameType.headers, flags | flag.endHeaders, 1, Buffer.concat(block));
}

interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    frames.push({
      type: bytes.readUInt8(at + 3),
      stream: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return frames;
}

const head = (...more: readonly Header[]): readonly Header[] => [
  [":method", "POST"],
  [":scheme", "https"],
  [":authority", "g"],
  [":path", "/function/hello"],
  ...more,
];
const without = (name: string): readonly Header[] => head().filter(([each]) => each !== name);

/** What a well-behaved client cannot be made to send (`security.md` H1 to H3, H7, after decoding). */
describe("HTTP/2 as bytes", () => {
  const fixture = syncFixture();
  let tls: { cert: Buffer; key: Buffer };
  beforeAll(async () => {
    tls = await selfSigned();
  });

  /** Sends one request on a new connection; gives its status, or "ended" if its stream or connection was ended. */
  const send = async (list: readonly Header[], body: string) => {
    const gateway = await fixture.open({ server: { tls } });
    const fn = await fixture.serve();
    gateway.deploy("hello", { addresses: [fn.address] });
    const socket = connect({ port: gateway.port, host: "localhost", ca: tls.cert, ALPNProtocols: ["h2"] });
    fixture.closing({ close: () => socket.destroy() });
    socket.on("error", () => {});
    await once(socket, "secureConnect");
    let received = Buffer.alloc(0);
    let closed = false;
    socket.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
    socket.on("close", () => (closed = true));
    const data = frame(frameType.data, flag.endStream, 1, Buffer.from(body));
    socket.write(Buffer.concat([preface, frame(frameType.settings, 0, 0), headersFrame(list, 0), data]));
    const outcome = await eventually(
      () => {
        const frames = framesOf(received);
        const response = frames.find(({ type, stream }) => stream === 1 && type === frameType.headers);
        // The first header is the status, from the static table or as a literal.
        if (response !== undefined) return statusOf(response.payload);
        const ended = frames.some(({ type }) => type === frameType.reset || type === frameType.goAway);
        return ended || closed ? "ended" : undefined;
      },
      { what: "a response" },
    );
    return { outcome, fn };
  };

  test("a request that keeps the rules is served", async () => {
    const { outcome, fn } = await send(head(["content-length", "2"]), "it");
    expect(outcome).toBe(200);
    expect(fn.requests[0]).toMatchObject({ method: "POST", target: "/", body: "it" });
  });

  test("an authority that is not the host: 400", async () => {
    const { outcome, fn } = await send(head(["host", "elsewhere"]), "it");
    expect(outcome).toBe(400);
    expect(fn.requests).toEqual([]);
  });

  test.each([
    ["no authority and no host", without(":authority")],
    ["two hosts that differ", [...without(":authority"), ["host", "g"], ["host", "h"]]],
    ["no method", without(":method")],
    ["no path", without(":path")],
    ["no scheme", without(":scheme")],
    ["two paths", head([":path", "/other"])],
    ["two authorities", head([":authority", "g"])],
    ["an empty path", [...without(":path"), [":path", ""]]],
    ["a pseudo header of a response", head([":status", "200"])],
    ["an unknown pseudo header", head([":weir", "1"])],
    ["a pseudo header after others", [...without(":path"), ["x-a", "1"], [":path", "/function/hello"]]],
    ["Transfer-Encoding", head(["transfer-encoding", "chunked"])],
    ["Connection", head(["connection", "close"])],
    ["Keep-Alive", head(["keep-alive", "timeout=1"])],
    ["Proxy-Connection", head(["proxy-connection", "close"])],
    ["Upgrade", head(["upgrade", "websocket"])],
    ["TE other than trailers", head(["te", "gzip"])],
    ["upper case in a name", head(["X-Upper", "1"])],
    ["a length above the body's", head(["content-length", "3"])],
    ["a length below the body's", head(["content-length", "1"])],
    ["two lengths", head(["content-length", "2"], ["content-length", "2"])],
    ["an invalid length", head(["content-length", "+2"])],
  ] satisfies [string, readonly Header[]][])("%s: the function sees no whole request", async (_name, list) => {
    const { outcome, fn } = await send(list, "it");
    expect(["ended", 400, 502]).toContain(outcome);
    expect(fn.requests).toEqual([]);
  });

  // The HTTP/2 library drops such a header silently.
  test.each([
    ["a space in a name", "x upper", "1"],
    ["a line end in a value", "x-a", "1\r\nx-b: 2"],
    ["a NUL in a value", "x-a", "1\0"],
  ])("%s: the function sees nothing of that header", async (_name, name, value) => {
    const { outcome, fn } = await send(head([name, value]), "it");
    expect(outcome).toBe(200);
    expect(fn.requests[0]?.rawHeaders.join("|")).not.toMatch(/x-a|x-b|upper/);
  });
});

function statusOf(block: Buffer): number {
  const indexed = [200, 204, 206, 304, 400, 404, 500];
  // A change of the table's size may come first.
  let at = 0;
  while (((block[at] ?? 0) & 0xe0) === 0x20) at += (block[at] ?? 0) === 0x3f ? 3 : 1;
  const first = block[at] ?? 0;
  if (first >= 0x88 && first <= 0x8e) return indexed[first - 0x88] ?? 0;
  return -1;
}
