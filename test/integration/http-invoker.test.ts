import { once } from "node:events";
import { createServer } from "node:net";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { HttpInvoker } from "../../runtime/adapters/http/upstream/http-invoker.ts";
import { HttpUpstream } from "../../runtime/adapters/http/upstream/http-upstream.ts";
import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { InvokeOptions, InvokeOutcome } from "../../runtime/core/ports/invoker.ts";
import { sampleCall } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, openRawFunction, type FunctionHandler } from "../support/function-server.ts";

let upstream: HttpUpstream;
let invoker: HttpInvoker;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  upstream = new HttpUpstream();
  invoker = new HttpInvoker(upstream);
});
afterEach(async () => {
  await upstream.close();
  for (const close of closing.splice(0)) await close();
});

async function serve(handler?: FunctionHandler, options?: { readonly readBody?: boolean }) {
  const server = await openFunctionServer(handler, options);
  closing.push(() => server.close());
  return server;
}
async function serveRaw(reply: Parameters<typeof openRawFunction>[0]) {
  const server = await openRawFunction(reply);
  closing.push(() => server.close());
  return server;
}
function invoke(
  address: string,
  over: Partial<QueuedCall> = {},
  options: Partial<InvokeOptions> = {},
): Promise<InvokeOutcome> {
  const given = { attempt: 1, timeout: 5_000, outputLimit: 1_000, signal: new AbortController().signal, ...options };
  return invoker.invoke(address, sampleCall({ headers: ["Content-Type", "text/plain"], ...over }), given);
}

describe("the function gets", () => {
  test("method, path, query, headers and body as they were accepted, and the platform's headers", async () => {
    const server = await serve();
    const call = sampleCall({
      path: "/a%2Fb/..;/c",
      query: "x=1&y=%20",
      headers: ["Content-Type", "text/plain", "X-Word", "na\u00efve", "X-Many", "1", "X-Many", "2"],
      body: Buffer.from("hello"),
      depth: 3,
      parentId: "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1",
    });
    const outcome = await invoker.invoke(server.address, call, {
      attempt: 4,
      timeout: 5_000,
      outputLimit: 100,
      signal: new AbortController().signal,
    });
    expect(outcome).toMatchObject({ kind: "responded", status: 200 });
    const [seen] = server.requests;
    expect(seen).toMatchObject({ method: "POST", target: "/a%2Fb/..;/c?x=1&y=%20", body: "hello" });
    expect(seen?.headers).toMatchObject({
      host: server.address,
      "content-type": "text/plain",
      "content-length": "5",
      "x-word": "na\u00efve",
      "x-many": "1, 2",
      "x-call-id": call.id,
      "x-start-time": call.start.toString(),
      "x-call-attempt": "4",
      "x-call-depth": "3",
      "x-parent-call-id": call.parentId,
    });
    expect(seen?.headers["transfer-encoding"]).toBeUndefined();
  });

  test("a slash for no path, a bare ? unchanged, no depth and no parent if there is none", async () => {
    const server = await serve();
    await invoke(server.address, { path: "", query: undefined, body: Buffer.alloc(0) });
    await invoke(server.address, { path: "/x", query: "" });
    expect(server.requests.map(({ target }) => target)).toEqual(["/", "/x?"]);
    expect(server.requests[0]?.headers).not.toHaveProperty("x-call-depth");
    expect(server.requests[0]?.headers).not.toHaveProperty("x-parent-call-id");
    expect(server.requests[0]?.headers["content-length"]).toBe("0");
  });
});

describe("the outcome is", () => {
  test.each([200, 204, 302, 404, 418, 500, 599])("a response with %i", async (status) => {
    const server = await serve((_request, response) => response.writeHead(status, { "X-Own": "1" }).end());
    const outcome = await invoke(server.address);
    expect(outcome).toMatchObject({ kind: "responded", status, size: 0 });
    if (outcome.kind !== "responded") expect.fail(outcome.kind);
    expect(outcome.body?.byteLength).toBe(0);
    expect(outcome.duration).toBeGreaterThan(0);
  });

  test("the response's headers as sent, in order, repeated ones too, without those of the connection", async () => {
    const server = await serveRaw(
      "HTTP/1.1 200 OK\r\nX-B: 1\r\nSet-Cookie: a=1\r\nX-Latin: na\u00efve\r\nConnection: close, X-Hop\r\nX-Hop: gone\r\nKeep-Alive: timeout=5\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok",
    );
    const outcome = await invoke(server.address);
    if (outcome.kind !== "responded") expect.fail(outcome.kind);
    expect(outcome.headers).toEqual([
      "X-B",
      "1",
      "Set-Cookie",
      "a=1",
      "X-Latin",
      "na\u00efve",
      "Set-Cookie",
      "b=2",
      "Content-Length",
      "2",
    ]);
    expect(Buffer.from(outcome.body ?? []).toString()).toBe("ok");
  });

  test("a body of exactly the limit, and only its length beyond it", async () => {
    const server = await serve((request, response) => {
      const size = Number(request.url?.slice(1));
      for (let left = size; left > 0; left -= 300) response.write("x".repeat(Math.min(left, 300)));
      response.end();
    });
    const whole = await invoke(server.address, { path: "/1000", query: undefined });
    const over = await invoke(server.address, { path: "/1001", query: undefined });
    const far = await invoke(server.address, { path: "/3000000", query: undefined });
    expect(whole).toMatchObject({ kind: "responded", size: 1_000 });
    expect(whole.kind === "responded" && whole.body?.byteLength).toBe(1_000);
    expect(over).toMatchObject({ kind: "responded", size: 1_001, body: undefined });
    expect(far).toMatchObject({ kind: "responded", size: 3_000_000, body: undefined });
  });

  test("unreachable, nothing sent, when the connection is refused", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    server.close();
    await once(server, "close");
    expect(await invoke(`127.0.0.1:${port}`)).toMatchObject({
      kind: "unreachable",
      sent: false,
      error: expect.stringMatching(/./),
    });
  });

  test.each<[string, string]>([
    ["it is not HTTP", "hello\r\n\r\n"],
    ["it has two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
    ["its status is 999", "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok"],
    ["a chunk is invalid", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n"],
    ["its head is too long", `HTTP/1.1 200 OK\r\nX: ${"a".repeat(70_000)}\r\nContent-Length: 2\r\n\r\nok`],
  ])("unreachable, perhaps begun, when the response is malformed: %s", async (_name, reply) => {
    const server = await serveRaw(reply);
    expect(await invoke(server.address)).toMatchObject({ kind: "unreachable", sent: true });
  });

  test.each([
    ["nothing", ""],
    ["half a head", "HTTP/1.1 200 OK\r\nConte"],
    ["a short body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"],
    ["a truncated chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"],
  ])("unreachable, perhaps begun, when the connection ends after %s", async (_name, text) => {
    for (const end of ["end", "resetAndDestroy"] as const) {
      const server = await serveRaw((socket) => {
        socket.write(text, () => socket[end]());
      });
      expect(await invoke(server.address)).toMatchObject({ kind: "unreachable", sent: true });
    }
  });

  test("how much of the response had arrived when the connection ended", async () => {
    const head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    for (const [text, error] of [
      ["", /^.+ after \d+ ms, before the head of its response$/],
      [`${head}begun`, /^.+ after \d+ ms and 5 bytes of the body of its 200 response$/],
    ] as const) {
      const server = await serveRaw((socket) => void socket.end(text));
      const outcome = await invoke(server.address);
      expect(outcome).toMatchObject({ kind: "unreachable", error: expect.stringMatching(error) });
    }
  });

  test("timed out when the head or the rest does not arrive in time, and the connection is closed", async () => {
    const mute = await serve(() => {});
    const slow = await serve((_request, response) => void response.writeHead(200).write("x"));
    for (const server of [mute, slow]) {
      const outcome = await invoke(server.address, {}, { timeout: 200 });
      expect(outcome.kind).toBe("timed-out");
      expect(outcome.duration).toBeGreaterThan(150);
      await eventually(() => server.aborted === 1 && server.open === 0, {
        what: "the connection to be closed",
      });
    }
  });

  test("aborted before, during and after the head, and the connection is closed", async () => {
    const stopped = new AbortController();
    stopped.abort();
    const never = await serve();
    expect(await invoke(never.address, {}, { signal: stopped.signal })).toMatchObject({ kind: "aborted" });
    expect(never.requests).toEqual([]);
    for (const handler of [
      () => {},
      (_request, response) => void response.writeHead(200).write("x"),
    ] satisfies FunctionHandler[]) {
      const server = await serve(handler);
      const stop = new AbortController();
      const running = invoke(server.address, {}, { signal: stop.signal });
      await eventually(() => server.open === 1, { what: "the run" });
      stop.abort();
      expect(await running).toMatchObject({ kind: "aborted" });
      await eventually(() => server.aborted === 1 && server.open === 0, {
        what: "the connection to be closed",
      });
    }
  });

  test("the same for calls one after another over kept connections, and for many at once", async () => {
    const server = await serve((_request, response, body) => response.end(body));
    for (let n = 0; n < 5; n++) expect(await invoke(server.address)).toMatchObject({ kind: "responded" });
    const bodies = Array.from({ length: 50 }, (_, n) => `body ${n}`);
    const outcomes = await Promise.all(bodies.map((body) => invoke(server.address, { body: Buffer.from(body) })));
    expect(
      outcomes.map((outcome) =>
        outcome.kind === "responded" ? Buffer.from(outcome.body ?? []).toString() : outcome.kind,
      ),
    ).toEqual(bodies);
  });
});
