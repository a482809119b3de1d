import { describe, expect, test } from "vitest";

import { SessionTable } from "../../../../../runtime/gateway/access/sessions/session-table.ts";
import { sessionKey } from "../../../../../runtime/gateway/access/sessions/session-secret.ts";
import { createLog } from "../../../../../runtime/process/log.ts";
import { MemorySessionStore } from "../../../../support/memory/memory-session-store.ts";

const log = createLog("test", "silent");
const admin = { via: "basic", subject: "admin", claims: {} } as const;
const hour = 3_600_000;

describe("SessionTable", () => {
  test("a session lasts 8 hours, and is not renewed", async () => {
    let time = 1_000;
    const table = new SessionTable({ store: new MemorySessionStore(), log, now: () => time });
    const { secret, session } = await table.open(admin);
    expect(session.expiresAt).toBe(1_000 + 8 * hour);
    time += 8 * hour - 1;
    expect(await table.find(secret)).toEqual(session);
    time += 1;
    expect(await table.find(secret)).toBeUndefined();
  });

  test("the store learns neither the secret nor anything that reveals it", async () => {
    const store = new MemorySessionStore();
    const seen: string[] = [];
    await store.watch({ set: (key, session) => void seen.push(key, JSON.stringify(session)), removed: () => {} });
    const table = new SessionTable({ store, log });
    const { secret, session } = await table.open(admin, { digest: (own) => `digest with ${own.length} characters` });
    expect(seen.join()).not.toContain(secret);
    expect(seen[0]).toBe(sessionKey(secret));
    expect(session).toMatchObject({ credentials: "digest with 43 characters" });
    expect(session.publicHalf).not.toBe(secret);
  });

  test("two sessions have different secrets, and one that ends leaves the other", async () => {
    const table = new SessionTable({ store: new MemorySessionStore(), log });
    const [one, two] = [await table.open(admin), await table.open(admin)];
    expect(one.secret).not.toBe(two.secret);
    expect(await table.end(one.secret)).toEqual(one.session);
    expect(await table.end(one.secret)).toBeUndefined();
    expect(await table.find(one.secret)).toBeUndefined();
    expect(await table.find(two.secret)).toEqual(two.session);
  });

  test("a gateway that heard of a session keeps it while the store is away, and forgets one that ends", async () => {
    const store = new MemorySessionStore();
    const [one, two] = [new SessionTable({ store, log }), new SessionTable({ store, log })];
    const unwatch = two.watch();
    await Promise.resolve();
    const { secret, session } = await one.open(admin);
    store.away = 1;
    expect(await two.find(secret)).toEqual(session);
    store.away = 0;
    await one.end(secret);
    store.away = 1;
    await expect(two.find(secret)).rejects.toMatchObject({ code: "provider_unavailable" });
    unwatch();
  });

  test("a session that a gateway did not hear of is read from the store", async () => {
    const store = new MemorySessionStore();
    const { secret, session } = await new SessionTable({ store, log }).open(admin);
    expect(await new SessionTable({ store, log }).find(secret)).toEqual(session);
    store.away = 1;
    await expect(new SessionTable({ store, log }).find(secret)).rejects.toMatchObject({ code: "provider_unavailable" });
  });

  test("of very many secrets a few may be ended, those of known sessions first", async () => {
    const store = new MemorySessionStore();
    const [here, elsewhere] = [new SessionTable({ store, log }), new SessionTable({ store, log })];
    const { secret: own } = await here.open(admin);
    const { secret: foreign } = await elsewhere.open(admin);
    const junk = Array.from({ length: 200 }, (_, index) => `${index}`.padStart(43, "x"));
    expect(here.endable([...junk, "", "short", own])).toEqual([own, ...junk.slice(0, 3)]);
    expect(here.endable([foreign, own, own, foreign])).toEqual([own, foreign]);
    expect(here.endable(["", "*", "short"])).toEqual([]);
  });
});
