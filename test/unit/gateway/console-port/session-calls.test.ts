import { beforeEach, describe, expect, test } from "vitest";

import { noGrants } from "../../../../runtime/core/access/grants.ts";
import { administrator, type Principal } from "../../../../runtime/core/access/principal.ts";
import type { UpstreamRequest } from "../../../../runtime/core/ports/upstream.ts";
import { DeadlineSweep } from "../../../../runtime/gateway/calls/sync/deadline-sweep.ts";
import { HeldExchange } from "../../../../runtime/gateway/console-port/calls/held-exchange.ts";
import { SessionCalls } from "../../../../runtime/gateway/console-port/calls/session-calls.ts";
import { InvocationCounts } from "../../../../runtime/process/metrics/invocation-counts.ts";
import { memoryAsyncParts } from "../../../support/memory-async-invoker.ts";
import { MemoryCallLedger } from "../../../support/memory/memory-call-ledger.ts";
import { createTestPlatform, type TestPlatform } from "../../../support/sync-gateway.ts";

/** Who is signed in calls functions by their own rights, whatever a request says. */
let platform: TestPlatform;
let calls: SessionCalls;
let ledger: MemoryCallLedger;
let sent: UpstreamRequest[];
const counts = new InvocationCounts();

const admin = administrator("session");
const nobody: Principal = { ...admin, subject: "fed:bob", issuer: "https://issuer.example", grants: noGrants };

beforeEach(() => {
  platform = createTestPlatform();
  ledger = new MemoryCallLedger();
  sent = [];
  platform.deploy("open", { addresses: ["10.0.0.1:8080"] });
  platform.deploy("closed", { addresses: ["10.0.0.1:8080"], annotations: { "com.service.auth": "required" } });
  const async = memoryAsyncParts(platform.table, { ledger });
  calls = new SessionCalls({
    admission: {
      table: platform.table,
      invokeAuth: false,
      clientOf: (peer) => peer ?? "",
      isPlatformCredential: (authorization) => authorization.startsWith("Basic"),
    },
    sync: {
      ...async,
      waker: { wait: () => Promise.reject(new Error("a replica is ready")) },
      upstream: {
        dispatch: (_address, request, listener) => {
          sent.push(request);
          queueMicrotask(() => {
            listener.onHead(200, []);
            listener.onEnd();
          });
          return { resume: () => {}, abort: () => {} };
        },
        release: () => {},
        close: async () => {},
      },
      counts,
      settings: { upstreamTimeout: 1_000, timeoutMax: 1_000 },
      draining: () => false,
      sweep: new DeadlineSweep(),
      streamIdle: 1_000,
      webSocketIdle: 1_000,
    },
    async,
  });
});

const exchange = (url: string, headers: readonly string[] = [], method = "POST"): HeldExchange =>
  new HeldExchange({
    method,
    url,
    headers: ["Host", "gateway:8080", ...headers],
    body: Buffer.alloc(0),
    address: "10.0.0.9",
    limit: 1_000,
    longest: 1_000,
  });

/** Headers of a request to a function, by name. */
const headersOf = ({ headers = [], forward }: Partial<UpstreamRequest>): Record<string, string> => {
  const list = [...(forward?.list ?? []), ...headers];
  return Object.fromEntries(
    Array.from({ length: list.length / 2 }, (_, index) => [
      (list[2 * index] ?? "").toLowerCase(),
      list[2 * index + 1] ?? "",
    ]),
  );
};

test("a function that asks for nobody is called by anybody", async () => {
  expect(await calls.call(exchange("/function/open"), nobody)).toMatchObject({ status: 200 });
  expect(JSON.stringify(headersOf(sent[0] ?? {}))).not.toContain("bob");
});

describe("a protected function", () => {
  test("is told who is signed in, if they may call it", async () => {
    expect(await calls.call(exchange("/function/closed"), admin)).toMatchObject({ status: 200 });
    expect(Object.values(headersOf(sent[0] ?? {}))).toContain("admin");
  });

  test("is not called for who may not, at once or queued", async () => {
    const denied = expect.objectContaining({
      code: "forbidden",
      request: { action: "Function:Invoke", resource: "functions:closed" },
    });
    await expect(calls.call(exchange("/function/closed"), nobody)).rejects.toEqual(denied);
    await expect(calls.queue(exchange("/async-function/closed"), nobody)).rejects.toEqual(denied);
    expect([sent, counts.inFlight]).toEqual([[], 0]);
  });

  test("does not get the credentials that a page sends along, which count for nothing", async () => {
    const credentials = ["Authorization", "Bearer of-another"];
    await expect(calls.call(exchange("/function/closed", credentials), nobody)).rejects.toMatchObject({
      code: "forbidden",
    });
    await calls.call(exchange("/function/closed", credentials), admin);
    await calls.call(exchange("/function/open", credentials), nobody);
    await calls.call(exchange("/function/open", ["Authorization", "Basic YWRtaW46eA=="]), nobody);
    expect(sent.map((request) => headersOf(request)["authorization"])).toEqual([
      undefined,
      "Bearer of-another",
      undefined,
    ]);
  });

  test("has queued calls that who may not call it cannot cancel", async () => {
    const queued = await calls.queue(exchange("/async-function/closed"), admin);
    const id = queued?.headers[(queued.headers.indexOf("X-Call-Id") ?? -1) + 1] ?? "";
    expect([queued?.status, id]).toEqual([202, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    const cancel = () => exchange(`/async-function/${id}`, [], "DELETE");
    await expect(calls.queue(cancel(), nobody)).rejects.toMatchObject({ code: "forbidden" });
    expect((await ledger.read(id))?.entry.state).toBe("queued");
    expect(await calls.queue(cancel(), admin)).toMatchObject({ status: 202 });
    expect((await ledger.read(id))?.entry.state).toBe("cancelled");
  });
});

test("a function that is not there is an error of the page's request", async () => {
  await expect(calls.call(exchange("/function/gone"), admin)).rejects.toMatchObject({ code: "function_not_found" });
});
