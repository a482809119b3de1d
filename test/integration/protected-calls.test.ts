import { beforeAll, describe, expect, test } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { PutOutcome } from "../../runtime/core/ports/call-queue.ts";
import type { ObservedAccess } from "../../runtime/gateway/access/access-observer.ts";
import type { BasicAuth } from "../../runtime/gateway/access/basic-auth.ts";
import { FunctionCallers } from "../../runtime/gateway/access/function-callers.ts";
import { TokenHolders } from "../../runtime/gateway/access/token-holders.ts";
import type { AdmissionParts } from "../../runtime/gateway/calls/admission.ts";
import { eventually } from "../support/eventually.ts";
import { FakeTokens } from "../support/fake-tokens.ts";
import { openHttp2Client } from "../support/http2-client.ts";
import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { MemoryCallQueue } from "../support/memory/memory-call-queue.ts";
import { openRawClient } from "../support/raw-client.ts";
import { selfSigned } from "../support/self-signed.ts";
import { syncFixture } from "../support/sync-fixture.ts";
import type { SyncGateway, SyncGatewayOptions } from "../support/sync-gateway.ts";
import { openWebSocketFunction } from "../support/websocket-function.ts";

const password = "Basic right";
const required = { "com.service.auth": "required" };
const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const wrong = (): never => {
  throw new PlatformError("credentials_invalid", "Cannot answer this request: its credentials are wrong");
};
const basic: BasicAuth = {
  via: "basic",
  credentials: undefined,
  check: wrong,
  checkCall: (authorization) => void (authorization === password || wrong()),
  checkPassword: wrong,
  refuse: wrong,
  namesPlatformUser: () => false,
};

/** A queue that keeps what was put into it. */
class SeenCallQueue extends MemoryCallQueue {
  readonly calls: QueuedCall[] = [];

  override put(call: QueuedCall, until: number, redrives?: number): Promise<PutOutcome> {
    this.calls.push(call);
    return super.put(call, until, redrives);
  }
}

describe("functions that ask for a caller", () => {
  const fixture = syncFixture();
  let tls: { cert: Buffer; key: Buffer };
  beforeAll(async () => {
    tls = await selfSigned();
  });

  interface Opened {
    readonly gateway: SyncGateway;
    readonly tokens: FakeTokens;
    readonly refused: ObservedAccess[];
    readonly queue: SeenCallQueue;
  }

  /** A gateway whose callers hold tokens of `tokens`. */
  const open = async (options: SyncGatewayOptions = {}): Promise<Opened> => {
    const tokens = new FakeTokens();
    const refused: ObservedAccess[] = [];
    const queue = new SeenCallQueue({ ackWait: 60_000 });
    const callers = new FunctionCallers(basic, new TokenHolders(tokens.reader, () => tokens.rules));
    const admission: Partial<AdmissionParts> = {
      readToken: (authorization) => callers.readToken(authorization),
      authorise: (credentials, ref) => callers.authorise(credentials, ref),
      accessObserver: { refused: (access) => refused.push(access), changed: () => {} },
    };
    const gateway = await fixture.open({
      ...options,
      invoker: admission,
      invokeAsync: (...call) => invokeAsync(...call),
    });
    const invokeAsync = openMemoryAsyncInvoker(gateway.table, { admission, calls: queue });
    return { gateway, tokens, refused, queue };
  };
  const send = async (
    gateway: SyncGateway,
    path: string,
    authorization?: string,
    init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) => {
    const headers = { ...(authorization === undefined ? {} : { authorization }), "x-call-id": id, ...init.headers };
    const response = await fetch(gateway.base + path, { method: "POST", ...init, headers });
    return [response.status, await response.text()] as const;
  };
  const later = () => Promise.withResolvers<void>();

  test("are called by who may invoke them, and told who that is", async () => {
    const fn = await fixture.serve();
    const { gateway, tokens } = await open();
    const claims = { "com.service.auth.claims": "email, groups,missing" };
    gateway.deploy("pay", { addresses: [fn.address], annotations: required });
    gateway.deploy("shop", { addresses: [fn.address], annotations: { ...required, ...claims } });
    gateway.deploy("old", { addresses: [fn.address], envVars: { jwt_auth: "true" } });
    tokens.allow({ alice: [["Function:Invoke"], ["functions:*"]] });
    const alice = tokens.give("alice", { more: { email: "alice@example.com", groups: ["a", "b"], age: 7 } });
    const forged = { "X-Auth-Subject": "root", X_Auth_Issuer: "root", "x-auth-claims": "root" };
    for (const name of ["pay", "shop", "old"]) {
      expect(await send(gateway, `/function/${name}`, alice, { headers: forged })).toEqual([200, "ok"]);
    }
    expect(await send(gateway, "/function/pay.openfaas-fn", password, { headers: forged })).toEqual([200, "ok"]);
    const told = fn.requests.map(({ rawHeaders, headers }) => ({
      names: rawHeaders.filter((name) => /^x.auth/i.test(name)),
      subject: headers["x-auth-subject"],
      issuer: headers["x-auth-issuer"],
      claims: headers["x-auth-claims"],
      authorization: headers["authorization"],
    }));
    const subject = {
      names: ["X-Auth-Subject", "X-Auth-Issuer"],
      subject: "fed:alice",
      issuer: "https://issuer.example",
    };
    const encoded = Buffer.from(JSON.stringify({ email: "alice@example.com", groups: ["a", "b"] })).toString(
      "base64url",
    );
    expect(told).toEqual([
      subject,
      { ...subject, names: [...subject.names, "X-Auth-Claims"], claims: encoded },
      subject,
      { names: ["X-Auth-Subject"], subject: "admin" },
    ]);
    expect(tokens.verified).toHaveLength(1);
  });

  test("refuse others before they are woken, and say what is missing", async () => {
    const { gateway, tokens, refused } = await open();
    gateway.deploy("pay", { namespace: "dev", replicas: 0, annotations: required });
    tokens.allow({ alice: [["Function:*"], ["dev:pay2"]], bob: [["Function:Get"], ["*"]] });
    const [alice, bob] = [tokens.give("alice"), tokens.give("bob")];
    for (const path of ["/function/pay.dev", "/async-function/pay.dev"]) {
      for (const authorization of [undefined, "Basic wrong", "Bearer wrong", "Bearer a.b.c"]) {
        expect(await send(gateway, path, authorization)).toEqual([401, "invalid credentials"]);
      }
      for (const [name, authorization] of Object.entries({ alice, bob })) {
        expect(await send(gateway, path, authorization)).toEqual([
          403,
          `Cannot call function "pay" in "dev": fed:${name} (https://issuer.example) has no policy that allows Function:Invoke on dev:pay\n`,
        ]);
      }
    }
    expect(gateway.store.writes).toBe(0);
    expect(refused).toHaveLength(12);
    const seen = { action: "Function:Invoke", resources: ["dev:pay"], callId: id, requestId: undefined };
    expect(refused[0]).toMatchObject({ ...seen, principal: undefined, status: 401, code: "credentials_invalid" });
    expect(refused[4]).toMatchObject({ ...seen, principal: { subject: "fed:alice" }, status: 403, code: "forbidden" });
    // A deleted role counts at once.
    tokens.allow({ alice: [["Function:Invoke"], ["dev:pay"]] });
    const again = tokens.give("alice");
    expect((await send(gateway, "/async-function/pay.dev", again))[0]).toBe(202);
    tokens.allow({});
    expect((await send(gateway, "/async-function/pay.dev", again))[0]).toBe(403);
  });

  test("are called with a function token only as far as it names them", async () => {
    const fn = await fixture.serve();
    const { gateway, tokens } = await open();
    for (const name of ["env", "env2", "other"])
      gateway.deploy(name, { namespace: "dev", addresses: [fn.address], annotations: required });
    tokens.allow({ alice: [["Function:Invoke"], ["dev:env", "dev:env2", "dev:other"]] });
    const give = (permissions: readonly string[], audience: readonly string[] = []) =>
      tokens.give("alice", { kind: "function", more: { function: { permissions, audience } } });
    const statuses = async (authorization: string) => {
      const found = [];
      for (const name of ["env", "env2", "other"])
        found.push((await send(gateway, `/function/${name}.dev`, authorization))[0]);
      return found;
    };
    expect(await statuses(give(["dev:env"]))).toEqual([200, 403, 403]);
    expect(await statuses(give(["dev:env*"]))).toEqual([200, 200, 403]);
    expect(await statuses(give(["dev:*"], ["dev:env2"]))).toEqual([403, 200, 403]);
    expect(await statuses(give(["dev:other"], ["dev:env2"]))).toEqual([403, 403, 403]);
    expect(await statuses(give([]))).toEqual([403, 403, 403]);
    const narrow = give(["dev:env"]);
    expect(await send(gateway, "/function/other.dev", narrow)).toEqual([
      403,
      'Cannot call function "other" in "dev": the function token of fed:alice (https://issuer.example) is not good for dev:other\n',
    ]);
    // Its permissions give nothing that the rules do not.
    tokens.allow({ alice: [["Function:Invoke"], ["dev:other"]] });
    expect(await statuses(narrow)).toEqual([403, 403, 403]);
  });

  test("are told no more than 4 KiB of a caller", async () => {
    const fn = await fixture.serve();
    const { gateway, tokens, refused } = await open();
    gateway.deploy("pay", {
      addresses: [fn.address],
      annotations: { ...required, "com.service.auth.claims": "groups" },
    });
    tokens.allow({ alice: [["Function:Invoke"], ["*"]] });
    const large = tokens.give("alice", { more: { groups: "g".repeat(3_100) } });
    for (const path of ["/function/pay", "/async-function/pay"]) {
      expect(await send(gateway, path, large)).toEqual([
        403,
        expect.stringMatching(
          /^Cannot call function "pay" in "functions": .* 4096; annotation com\.service\.auth\.claims /,
        ),
      ]);
    }
    expect(refused.map(({ principal, code }) => [principal?.subject, code])).toEqual([
      ["fed:alice", "forbidden"],
      ["fed:alice", "forbidden"],
    ]);
    expect(
      (await send(gateway, "/function/pay", tokens.give("alice", { more: { groups: "g".repeat(2_000) } })))[0],
    ).toBe(200);
  });

  describe("while a new token is verified", () => {
    const slow = async (options: SyncGatewayOptions = {}) => {
      const fn = await fixture.serve((_request, response, body) => response.end(String(body.length)));
      const opened = await open(options);
      opened.gateway.deploy("pay", { addresses: [fn.address], annotations: required });
      opened.tokens.allow({ alice: [["Function:Invoke"], ["functions:pay"]] });
      const verified = later();
      opened.tokens.verifying = verified.promise;
      const begun = (count = 1) =>
        eventually(() => opened.tokens.verified.length === count, { what: "the token to be read" });
      return { ...opened, fn, alice: opened.tokens.give("alice"), begun, resolve: verified.resolve };
    };
    const head = (path: string, authorization: string, more: string) =>
      `POST ${path} HTTP/1.1\r\nHost: g\r\nAuthorization: ${authorization}\r\n${more}\r\n\r\n`;
    const mebibyte = "x".repeat(1_048_576);

    test.each(["/function/", "/async-function/"])(
      "no body to %s is lost over HTTP/1.1, nor the next request",
      async (prefix) => {
        const { gateway, alice, begun, resolve, fn, queue } = await slow();
        const client = fixture.closing(await openRawClient(gateway.port));
        const length = mebibyte.length - 10;
        // The first bytes come with the head, the next ones as it waits, and the next request behind them.
        client.send(`${head(`${prefix}pay`, alice, `Content-Length: ${length}`)}${"x".repeat(100)}`);
        await begun();
        client.send("x".repeat(length - 100) + head(`${prefix}pay`, alice, "Transfer-Encoding: chunked"));
        client.send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
        client.send(`${head(`${prefix}pay`, alice, "Content-Length: 2")}hi`);
        resolve();
        const replies = await client.replies(3);
        expect(replies.map(({ status }) => status)).toEqual(
          prefix === "/function/" ? [200, 200, 200] : [202, 202, 202],
        );
        if (prefix === "/function/") {
          expect(replies.map(({ body }) => body)).toEqual([String(length), "5", "2"]);
          expect(fn.requests.map(({ body }) => body.slice(0, 5))).toEqual(["xxxxx", "abcde", "hi"]);
        } else expect(queue.calls.map(({ body }) => body.byteLength)).toEqual([length, 5, 2]);
      },
    );

    test("no body is lost over HTTP/2", async () => {
      const { gateway, alice, begun, resolve } = await slow({ server: { tls } });
      const client = fixture.closing(await openHttp2Client(gateway.port, tls.cert));
      const ask = (body: string) =>
        client.ask({ ":method": "POST", ":path": "/function/pay", authorization: alice }, body);
      const asked = Promise.all([ask(mebibyte), ask("hi")]);
      await begun(2);
      resolve();
      expect((await asked).map(({ status, body }) => [status, body])).toEqual([
        [200, String(mebibyte.length)],
        [200, "2"],
      ]);
    });

    test("a client that leaves is not called for", async () => {
      const { gateway, alice, begun, resolve, fn } = await slow();
      const client = await openRawClient(gateway.port);
      client.send(`${head("/function/pay", alice, "Content-Length: 2")}hi`);
      await begun();
      client.close();
      await eventually(async () => (await connectionsOf(gateway)) === 0, { what: "the gateway to see that" });
      resolve();
      await eventually(() => gateway.lines.length === 1, { what: "the access line" });
      expect(gateway.lines).toMatchObject([{ functionName: "pay", status: 499, bytesOut: 0 }]);
      expect(fn.requests).toEqual([]);
    });

    test("one that is wrong is refused, and the connection goes on", async () => {
      const { gateway, alice, resolve } = await slow();
      resolve();
      const client = fixture.closing(await openRawClient(gateway.port));
      client.send(`${head("/function/pay", "Bearer wrong", "Content-Length: 2")}hi`);
      client.send(`${head("/function/pay", alice, "Content-Length: 2")}hi`);
      expect((await client.replies(2)).map(({ status, body }) => [status, body])).toEqual([
        [401, "invalid credentials"],
        [200, "2"],
      ]);
    });

    test("a WebSocket waits with what its client sent already", async () => {
      const { gateway, alice, begun, resolve } = await slow();
      const chat = fixture.closing(await openWebSocketFunction());
      gateway.deploy("pay", { addresses: [chat.address], annotations: required });
      const client = fixture.closing(await openRawClient(gateway.port));
      // A frame with the mask 0.
      client.send(`${handshake(alice)}\x81\x85\0\0\0\0early`);
      await begun();
      resolve();
      await eventually(() => client.text.includes("early"), { what: "the echo" });
      expect(chat.handshakes[0]?.headers).toMatchObject({ "x-auth-subject": "fed:alice" });
      expect(chat.handshakes[0]?.headers.authorization).toBeUndefined();
    });
  });

  test("end streams and WebSockets five minutes after their caller's token", async () => {
    const fn = await fixture.serve((_request, response) => response.write("begin"));
    const chat = fixture.closing(await openWebSocketFunction());
    const { gateway, tokens } = await open();
    gateway.deploy("stream", { addresses: [fn.address], annotations: required });
    gateway.deploy("chat", { addresses: [chat.address], annotations: required });
    tokens.allow({ alice: [["Function:Invoke"], ["*"]] });
    const grace = 5 * 60_000;
    const lasting = tokens.give("alice", { expiresAt: Date.now() - grace + 60_000 });
    const ending = () => tokens.give("alice", { expiresAt: Date.now() - grace + 300 });
    const begin = async (request: string) => {
      const client = fixture.closing(await openRawClient(gateway.port));
      client.send(request);
      return client;
    };
    const get = (authorization: string) =>
      `GET /function/stream HTTP/1.1\r\nHost: g\r\nAuthorization: ${authorization}\r\n\r\n`;
    const stays = await begin(get(lasting));
    await eventually(() => stays.text.includes("begin"), { what: "the stream that stays" });
    const ends = [await begin(get(ending())), await begin(handshake(ending(), "chat"))];
    for (const client of ends) await eventually(() => client.ended, { what: "the end" });
    expect(ends.map(({ text }) => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1])).toEqual(["200", "101"]);
    expect(gateway.cuts).toEqual(["expired", "expired"]);
    expect(stays.ended).toBe(false);
  });

  test("queue calls with who sent them, and show and cancel them for who may invoke", async () => {
    const { gateway, tokens, queue } = await open();
    gateway.deploy("pay", { annotations: { ...required, "com.service.auth.claims": "email" } });
    tokens.allow({ alice: [["Function:Invoke"], ["functions:pay"]], bob: [["Function:Invoke"], ["functions:shop"]] });
    const alice = tokens.give("alice", { more: { email: "a@example.com" } });
    const bob = tokens.give("bob");
    expect((await send(gateway, "/async-function/pay", alice, { headers: { "x-auth-subject": "root" } }))[0]).toBe(202);
    const [call] = queue.calls;
    const pairs = (call?.headers ?? []).flatMap((name, index, all) =>
      index % 2 === 0 ? [[name, all[index + 1]]] : [],
    );
    expect(pairs.filter(([name]) => /^(?:x-auth|authorization)/i.test(name ?? ""))).toEqual([
      ["X-Auth-Subject", "fed:alice"],
      ["X-Auth-Issuer", "https://issuer.example"],
      ["X-Auth-Claims", Buffer.from('{"email":"a@example.com"}').toString("base64url")],
    ]);
    const requests = [
      ["GET", `/async-function/${id}`, 200],
      ["GET", `/async-function/${id}/result`, 409],
      ["DELETE", `/async-function/pay/${id}`, 202],
    ] as const;
    for (const [method, path, status] of requests) {
      expect(await send(gateway, path, undefined, { method })).toEqual([401, "invalid credentials"]);
      expect(await send(gateway, path, bob, { method })).toEqual([
        403,
        `Cannot access call "${id}": fed:bob (https://issuer.example) may not call its function\n`,
      ]);
      const scope = { function: { permissions: ["functions:pay"], audience: [] } };
      const narrow = tokens.give("alice", { kind: "function", more: scope });
      expect((await send(gateway, path, status === 202 ? alice : narrow, { method }))[0]).toBe(status);
    }
  });
});

function handshake(authorization: string, name = "pay"): string {
  return `GET /function/${name} HTTP/1.1\r\nHost: g\r\nAuthorization: ${authorization}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
}

/** Number of open connections of clients. */
async function connectionsOf({ gateway }: SyncGateway): Promise<number> {
  const counted = Promise.withResolvers<number>();
  gateway.listener.getConnections((err, count) => (err === null ? counted.resolve(count) : counted.reject(err)));
  return counted.promise;
}
