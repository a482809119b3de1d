import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type {
  KeptRequests,
  RequestKeeper,
  SafeRequest,
  StoredRequest,
} from "../../runtime/core/ports/kept-requests.ts";
import { eventually } from "../support/eventually.ts";
import { plain, sampleCall } from "./samples.ts";

export interface OpenKeptRequests {
  readonly keeper: RequestKeeper;
  readonly requests: KeptRequests;
  /** Bytes of bodies of which eight are more than is kept. */
  readonly large: number;
  close(): Promise<void>;
}

const minute = 60_000;
const echo = { namespace: "functions", name: "echo" };

function requestOf(over: Partial<SafeRequest["call"]> = {}, redacted: readonly string[] = []): SafeRequest {
  return { call: sampleCall(over), redacted };
}

function shown(found: StoredRequest | undefined): unknown {
  return found === undefined ? undefined : { call: plain(found.call), redacted: found.redacted };
}

/** What `RequestKeeper` and `KeptRequests` promise together. */
export function keptRequestsContract(open: () => Promise<OpenKeptRequests>): void {
  const opened = (name: string, body: (given: OpenKeptRequests) => Promise<void>): void => {
    test(name, async () => {
      const given = await open();
      try {
        await body(given);
      } finally {
        await given.close();
      }
    });
  };

  opened("what was kept is found, with the whole request and its end", async ({ keeper, requests }) => {
    const whole = requestOf({ depth: 3, parentId: randomUUID() }, ["authorization", "x-api-key"]);
    const bare = requestOf({ path: "", query: undefined, callbackUrl: undefined, headers: [], body: Buffer.alloc(0) });
    for (const request of [whole, bare]) {
      const before = Date.now();
      expect(await keeper.put(request, 2 * minute)).toBe(true);
      const { call, redacted } = request;
      const found = await requests.find(call.function, call.id);
      expect(shown(found)).toEqual({ call: plain(call), redacted });
      expect(found?.expiresAt).toBeGreaterThan(before + 2 * minute - 5_000);
      expect(found?.expiresAt).toBeLessThan(Date.now() + 2 * minute + 5_000);
    }
  });

  opened("what was not kept is not found, nor under another function or id", async ({ keeper, requests }) => {
    const { call, redacted } = requestOf();
    await keeper.put({ call, redacted }, minute);
    expect(await requests.find(call.function, randomUUID())).toBeUndefined();
    expect(await requests.find({ ...echo, name: "other" }, call.id)).toBeUndefined();
    expect(await requests.find({ ...echo, namespace: "other" }, call.id)).toBeUndefined();
  });

  opened("the same one put again is kept once", async ({ keeper, requests }) => {
    const request = requestOf();
    const { function: ref, id } = request.call;
    expect(await keeper.put(request, minute)).toBe(true);
    expect(await keeper.put(request, minute)).toBe(true);
    await requests.remove(ref, id);
    expect(await requests.find(ref, id)).toBeUndefined();
  });

  opened("it is gone after its time", async ({ keeper, requests }) => {
    const [short, long] = [requestOf(), requestOf()];
    await keeper.put(short, 1_000);
    await keeper.put(long, minute);
    const { function: ref, id } = short.call;
    await eventually(async () => (await requests.find(ref, id)) === undefined, { what: "the request to expire" });
    expect(await requests.find(ref, long.call.id)).toBeDefined();
  });

  opened("remove() removes one; that there is none is not an error", async ({ keeper, requests }) => {
    const [first, second] = [requestOf(), requestOf()];
    for (const request of [first, second]) await keeper.put(request, minute);
    await requests.remove(echo, first.call.id);
    await requests.remove(echo, first.call.id);
    expect(await requests.find(echo, first.call.id)).toBeUndefined();
    expect(shown(await requests.find(echo, second.call.id))).toMatchObject({ call: { id: second.call.id } });
  });

  opened("removeFunction() removes those of one function, and says how many", async ({ keeper, requests }) => {
    const refs = [echo, echo, { ...echo, name: "echo-2" }, { ...echo, namespace: "shop" }];
    const kept = refs.map((ref) => requestOf({ function: ref }));
    for (const request of kept) await keeper.put(request, minute);
    expect(await requests.removeFunction(echo)).toBe(2);
    expect(await requests.removeFunction(echo)).toBe(0);
    const left = await Promise.all(kept.map(({ call }) => requests.find(call.function, call.id)));
    expect(left.map((found) => found?.call.function)).toEqual([undefined, undefined, refs[2], refs[3]]);
  });

  opened("removeNamespace() removes those of all its functions, and no others", async ({ keeper, requests }) => {
    const refs = [
      { namespace: "shop", name: "pay" },
      { namespace: "shop", name: "ship" },
      { namespace: "shop-2", name: "pay" },
    ];
    const kept = refs.map((ref) => requestOf({ function: ref }));
    for (const request of kept) await keeper.put(request, minute);
    await requests.removeNamespace("shop");
    await requests.removeNamespace("none");
    const left = await Promise.all(kept.map(({ call }) => requests.find(call.function, call.id)));
    expect(left.map((found) => found?.call.function.namespace)).toEqual([undefined, undefined, "shop-2"]);
  });

  opened("new ones take the place of the oldest", async ({ keeper, requests, large }) => {
    const kept = Array.from({ length: 8 }, () => requestOf({ body: Buffer.alloc(large, 7) }));
    for (const request of kept) expect(await keeper.put(request, minute)).toBe(true);
    const [first, last] = [kept[0], kept.at(-1)].map((request) => request?.call.id ?? "");
    expect(await requests.find(echo, first ?? "")).toBeUndefined();
    expect(await requests.find(echo, last ?? "")).toBeDefined();
  });
}
