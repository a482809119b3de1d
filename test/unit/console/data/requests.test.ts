import { describe, expect, test } from "vitest";

import { GatewayConnection } from "../../../../runtime/console/data/requests/connection.ts";
import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import { Requests, withQuery, type RequestSession } from "../../../../runtime/console/data/requests/requests.ts";
import { addressOf } from "../render-part.tsx";

interface Sent {
  readonly path: string;
  readonly init: RequestInit;
}

const problem = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ code, detail: `Cannot do it: ${code}` }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });

/** Requests whose replies are given in turn. */
function requestsTo(replies: readonly (Response | Error)[], session: Partial<RequestSession> = {}) {
  const sent: Sent[] = [];
  const left = [...replies];
  const fetch: typeof globalThis.fetch = async (path, init = {}) => {
    sent.push({ path: addressOf(path), init });
    const reply = left.shift();
    if (reply === undefined) throw new Error("the test has no reply for this request");
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const waits: number[] = [];
  const connection = new GatewayConnection({
    probe: async () => true,
    wait: async (delay) => void waits.push(delay),
  });
  const known: RequestSession = { half: () => undefined, signedInAgain: async () => {}, ...session };
  return { sent, connection, requests: new Requests({ fetch, session: known, connection }) };
}

describe("Requests", () => {
  test("a request carries the half of the session, and is never cached or redirected", async () => {
    const { requests, sent } = requestsTo([Response.json({ a: 1 })], { half: () => "half" });

    expect(await requests.get("/system/info")).toEqual({ a: 1 });

    const [{ init, path } = { init: {}, path: "" }] = sent;
    expect(path).toBe("/system/info");
    expect(init).toMatchObject({ cache: "no-store", redirect: "error", credentials: "same-origin" });
    expect(new Headers(init.headers).get("X-Weir-Session")).toBe("half");
  });

  test("a refusal is the gateway's own code and sentence, and when to ask again", async () => {
    const { requests } = requestsTo([problem(429, "too_many_streams", { "Retry-After": "7" })]);

    const failure = await requests.get("/system/watch").catch((err: unknown) => err);

    expect(failure).toBeInstanceOf(RequestFailure);
    expect(failure).toMatchObject({
      code: "too_many_streams",
      status: 429,
      retryAfterSeconds: 7,
      message: "Cannot do it: too_many_streams",
    });
  });

  test("after a 401 somebody signs in, then the same request goes on, with the new half", async () => {
    let half = "old";
    let asked = 0;
    const { requests, sent } = requestsTo([problem(401, "credentials_invalid"), Response.json([])], {
      half: () => half,
      signedInAgain: async () => {
        asked++;
        half = "new";
      },
    });

    const response = await requests.send("POST", "/system/functions", { body: { service: "hello" } });

    expect(response.status).toBe(200);
    expect(asked).toBe(1);
    expect(sent.map(({ init }) => new Headers(init.headers).get("X-Weir-Session"))).toEqual(["old", "new"]);
    expect(sent.map(({ init }) => init.body)).toEqual(['{"service":"hello"}', '{"service":"hello"}']);
  });

  test("without a reply the gateway is away, and the sentence says what was asked", async () => {
    const { requests, connection } = requestsTo([new TypeError("Failed to fetch")]);
    const states: string[] = [];
    connection.state.subscribe(({ kind }) => void states.push(kind));

    await expect(requests.get("/system/queues", { act: "read the queues" })).rejects.toMatchObject({
      code: "gateway_away",
      message: "Cannot read the queues: the gateway does not reply",
    });

    await expect.poll(() => states).toEqual(["there", "away", "there"]);
    expect(connection.returns.value).toBe(1);
  });

  test("what stands in front of the gateway replies for one that is away", async () => {
    const { requests } = requestsTo([new Response("<html>no backend</html>", { status: 503 })]);

    await expect(requests.get("/system/info")).rejects.toMatchObject({ code: "gateway_away", status: 503 });
  });

  test("a 503 of the gateway itself is its own", async () => {
    const { requests, connection } = requestsTo([problem(503, "history_unavailable")]);

    await expect(requests.get("/system/calls")).rejects.toMatchObject({ code: "history_unavailable" });

    expect(connection.state.value.kind).toBe("there");
  });

  test("a request that nobody needs any more says nothing of the gateway", async () => {
    const stop = new AbortController();
    const { requests, connection } = requestsTo([new DOMException("no longer wanted", "AbortError")]);
    stop.abort();

    await expect(requests.get("/system/info", { signal: stop.signal })).rejects.toThrow("no longer wanted");

    expect(connection.state.value.kind).toBe("there");
  });

  test("bytes are sent as they are", async () => {
    const { requests, sent } = requestsTo([new Response("ok")]);
    const bytes = new TextEncoder().encode("ü\u0000");

    await requests.open("POST", "/ui/try/hello.functions/", { bytes });

    expect(sent[0]?.init.body).toBe(bytes);
    expect(new Headers(sent[0]?.init.headers).get("Content-Type")).toBe("application/octet-stream");
  });
});

test("withQuery() leaves out members without a value", () => {
  expect(withQuery("/a", { b: undefined, c: "x y", d: 0, e: false })).toBe("/a?c=x+y&d=0&e=false");
  expect(withQuery("/a", { b: undefined })).toBe("/a");
});
