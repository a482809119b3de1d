import { randomBytes } from "node:crypto";

import { expect, test } from "vitest";

import { sessionLifetime, type Session, type SessionStore } from "../../runtime/core/ports/session-store.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenSessionStore {
  readonly store: SessionStore;
  close(): Promise<void>;
}

const session = (over: Partial<Session> = {}): Session => ({
  via: "issuer",
  subject: "alice",
  issuer: "https://issuer.example",
  claims: { sub: "alice", groups: ["dev", "ops"] },
  idToken: "a.b.c",
  publicHalf: "half",
  expiresAt: Date.now() + sessionLifetime,
  ...over,
});
const newKey = (): string => randomBytes(32).toString("base64url");

/** What every `SessionStore` promises. */
export function sessionStoreContract(open: () => Promise<OpenSessionStore>): void {
  const opened = (name: string, body: (store: SessionStore) => Promise<void>): void => {
    test(name, async () => {
      const { store, close } = await open();
      try {
        await body(store);
      } finally {
        await close();
      }
    });
  };

  opened("get() returns what was created, until it is removed", async (store) => {
    const [key, other] = [newKey(), newKey()];
    const [one, two] = [session(), session({ via: "basic", subject: "admin", credentials: "digest", claims: {} })];
    expect(await store.get(key)).toBeUndefined();
    await store.create(key, one);
    await store.create(other, two);
    expect(await store.get(key)).toEqual(one);
    expect(await store.get(other)).toEqual(two);

    await store.remove(key);
    await store.remove(key);
    await store.remove(newKey());
    expect(await store.get(key)).toBeUndefined();
    expect(await store.get(other)).toEqual(two);
  });

  opened("replace() replaces the very session that is there", async (store) => {
    const key = newKey();
    const [one, two, three] = [session(), session({ tokenEndsAt: 1 }), session({ tokenEndsAt: 2 })];
    expect(await store.replace(key, one, two)).toBe(false);
    await store.create(key, one);
    expect(await store.replace(key, two, three)).toBe(false);
    expect(await store.replace(key, one, two)).toBe(true);
    expect(await store.replace(key, one, three)).toBe(false);
    expect(await store.get(key)).toEqual(two);
    await store.remove(key);
    expect(await store.replace(key, two, three)).toBe(false);
  });

  opened("watch() reports what exists before it resolves, then each change, until it is ended", async (store) => {
    const [first, second] = [newKey(), newKey()];
    await store.create(first, session());
    const events: string[] = [];
    const observer = {
      set: (key: string, { subject }: Session) => void events.push(`set ${key} ${subject}`),
      removed: (key: string) => void events.push(`removed ${key}`),
    };
    const stop = await store.watch(observer);
    expect(events).toContain(`set ${first} alice`);

    await store.create(second, session({ subject: "bob" }));
    await store.remove(first);
    await eventually(() => events.includes(`removed ${first}`), { what: "the removal" });
    expect(events.indexOf(`set ${second} bob`)).toBeGreaterThan(0);
    expect(events.indexOf(`set ${second} bob`)).toBeLessThan(events.indexOf(`removed ${first}`));

    stop();
    const before = events.length;
    const seen: string[] = [];
    const stopOther = await store.watch({ set: (key) => void seen.push(key), removed: () => {} });
    const third = newKey();
    await store.create(third, session());
    await eventually(() => seen.includes(third), { what: "the other observer" });
    expect(events).toHaveLength(before);
    stopOther();
  });

  opened("awayFor() is 0 while the store can be reached", async (store) => {
    expect(store.awayFor()).toBe(0);
  });
}
