import { beforeEach, describe, expect, test } from "vitest";

import { sessionGrace } from "../../../../../runtime/core/ports/session-store.ts";
import { SessionTable } from "../../../../../runtime/gateway/access/sessions/session-table.ts";
import type { Renewal } from "../../../../../runtime/gateway/access/sessions/session-renewals.ts";
import { createLog } from "../../../../../runtime/process/log.ts";
import { MemorySessionStore } from "../../../../support/memory/memory-session-store.ts";

const log = createLog("test", "silent");
const minute = 60_000;
const alice = { via: "issuer", subject: "alice", issuer: "https://idp.example", claims: { sub: "alice" } } as const;

let time = 0;
let store: MemorySessionStore;
let asked: string[];
let answer: () => Promise<Renewal> | Renewal;
beforeEach(() => {
  time = Date.UTC(2026, 0, 1);
  store = new MemorySessionStore();
  asked = [];
  answer = () => ({ kind: "unavailable" });
});

function gateway(): SessionTable {
  const table = new SessionTable({ store, log, now: () => time });
  table.renewBy(async (_session, token) => {
    asked.push(token);
    return answer();
  });
  table.watch();
  return table;
}
const word = (refreshToken?: string): Renewal => ({
  kind: "renewed",
  word: { claims: { sub: "alice", groups: ["ops"] }, idToken: "new", tokenEndsAt: time + minute, refreshToken },
});
const open = (table: SessionTable, refreshToken?: string) =>
  table.open({ ...alice, tokenEndsAt: time + minute }, { refreshToken });

describe("without a refresh token", () => {
  test("a session ends a grace after its issuer's token, for good", async () => {
    const table = gateway();
    const { secret, session } = await open(table);
    time += minute + sessionGrace - 1;
    expect(await table.find(secret)).toEqual(session);
    expect(table.list()).toHaveLength(1);
    time += 1;
    expect(table.list()).toEqual([]);
    expect(await table.find(secret)).toBeUndefined();
    time -= 2;
    expect(await table.find(secret)).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe("with a refresh token", () => {
  test("the store cannot read it, and the issuer is asked when its token ends, with each token once", async () => {
    const table = gateway();
    const { secret, session } = await open(table, "first");
    expect(JSON.stringify(session)).not.toContain("first");
    await table.find(secret);
    expect(asked).toEqual([]);
    answer = () => word("second");
    time += minute;
    const [one, two] = await Promise.all([table.find(secret), table.find(secret)]);
    expect(one).toEqual(two);
    expect(one).toMatchObject({ claims: { groups: ["ops"] }, idToken: "new", tokenEndsAt: time + minute });
    answer = () => word();
    time += minute;
    await table.find(secret);
    time += minute;
    await table.find(secret);
    expect(asked).toEqual(["first", "second", "second"]);
    expect(await table.end(secret)).toMatchObject({ subject: "alice" });
  });

  test("a refusal ends it on all gateways at once", async () => {
    const [here, there] = [gateway(), gateway()];
    const { secret } = await open(here, "first");
    time += minute;
    answer = () => ({ kind: "refused" });
    expect(await here.find(secret)).toBeUndefined();
    expect(await there.find(secret)).toBeUndefined();
    expect([asked, here.list(), there.list()]).toEqual([["first"], [], []]);
  });

  test("while the issuer cannot be asked it goes on for a grace, asked every 30 s, and comes back after that", async () => {
    const table = gateway();
    const { secret } = await open(table, "first");
    time += minute;
    expect(await table.find(secret)).toBeDefined();
    expect(await table.find(secret)).toBeDefined();
    expect(asked).toHaveLength(1);
    time += 30_000;
    expect(await table.find(secret)).toBeDefined();
    expect(asked).toHaveLength(2);
    time += sessionGrace;
    expect(await table.find(secret)).toBeUndefined();
    answer = () => word();
    time += 30_000;
    expect(await table.find(secret)).toMatchObject({ tokenEndsAt: time + minute });
  });

  test("one gateway asks at a time; the other takes what it was told, also after the grace", async () => {
    const [here, there] = [gateway(), gateway()];
    const { secret } = await open(here, "first");
    const { promise, resolve } = Promise.withResolvers<Renewal>();
    answer = () => promise;
    time += minute + sessionGrace;
    const both = [here.find(secret), there.find(secret)];
    await new Promise(setImmediate);
    resolve(word("second"));
    for (const session of await Promise.all(both)) expect(session).toMatchObject({ idToken: "new" });
    expect(asked).toEqual(["first"]);
  });

  test("a session that is ended while the issuer is asked stays ended", async () => {
    const table = gateway();
    const { secret } = await open(table, "first");
    time += minute;
    answer = async () => {
      await table.end(secret);
      return word("second");
    };
    expect(await table.find(secret)).toBeUndefined();
    expect(table.list()).toEqual([]);
  });

  test("while the store is away a session goes on for the grace", async () => {
    const table = gateway();
    const { secret } = await open(table, "first");
    time += minute;
    store.away = 1;
    expect(await table.find(secret)).toBeDefined();
    time += sessionGrace;
    await expect(table.find(secret)).rejects.toMatchObject({ code: "provider_unavailable" });
  });
});
