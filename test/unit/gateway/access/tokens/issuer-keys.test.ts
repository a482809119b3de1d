import { expect, test } from "vitest";

import { IssuerKeys, NoKeySetError } from "../../../../../runtime/gateway/access/tokens/issuer-keys.ts";
import { importUsableKeys, type UsableKey } from "../../../../../runtime/gateway/access/tokens/usable-keys.ts";
import { tokenKey } from "../../../../support/token-keys.ts";

const [first, second] = await importUsableKeys([
  (await tokenKey("ES256", "first")).jwk,
  (await tokenKey("ES256", "second")).jwk,
]);
const header = (kid: string) => ({ alg: "ES256" as const, kid, typ: undefined });
const minute = 60_000;
const hour = 60 * minute;

/** Keys whose source is `source.read`, and a clock. */
function open(...published: (UsableKey | undefined)[]) {
  const clock = { now: 0 };
  const failures: unknown[] = [];
  const source = {
    reads: 0,
    read: async (): Promise<readonly UsableKey[]> => published.filter((key) => key !== undefined),
  };
  const read = (): Promise<readonly UsableKey[]> => {
    source.reads += 1;
    return source.read();
  };
  const keys = new IssuerKeys(
    read,
    (err) => failures.push(err),
    () => clock.now,
  );
  const finds = async (kid: string): Promise<boolean> => (await keys.find(header(kid))) !== undefined;
  return { clock, failures, source, finds };
}
const away = () => Promise.reject(new Error("away"));

test("a set is read when it is needed, once for all who wait, and again after 10 minutes", async () => {
  const { clock, source, finds } = open(first);
  expect(source.reads).toBe(0);
  expect(await Promise.all(Array.from({ length: 20 }, () => finds("first")))).not.toContain(false);
  expect(source.reads).toBe(1);
  clock.now += 10 * minute - 1;
  await finds("first");
  expect(source.reads).toBe(1);
  clock.now += 1;
  await finds("first");
  expect(source.reads).toBe(2);
});

test("an unknown kid makes the set be read again, once in 30 seconds", async () => {
  const { clock, source, finds } = open(first);
  await finds("first");
  source.read = async () => [second].filter((key) => key !== undefined);
  clock.now = 29_999;
  expect(await finds("second")).toBe(false);
  clock.now = 30_000;
  expect(await finds("second")).toBe(true);
  expect(await finds("first")).toBe(false);
  for (let index = 0; index < 100; index += 1) expect(await finds(`${index}`)).toBe(false);
  expect(source.reads).toBe(2);
  clock.now = 60_000;
  await Promise.all(["a", "b", "c"].map(finds));
  expect(source.reads).toBe(3);
});

test("the last good set is used for 24 hours, and read again every 30 seconds at most", async () => {
  const { clock, source, failures, finds } = open(first);
  await finds("first");
  source.read = away;
  clock.now = 10 * minute;
  for (let index = 0; index < 100; index += 1) expect(await finds("first")).toBe(true);
  expect([source.reads, failures.length]).toEqual([2, 1]);
  clock.now = 24 * hour - 1;
  expect(await finds("first")).toBe(true);
  clock.now = 24 * hour + minute;
  await expect(finds("first")).rejects.toThrow(NoKeySetError);
  source.read = async () => [first].filter((key) => key !== undefined);
  await expect(finds("first")).rejects.toThrow(NoKeySetError);
  clock.now += 30_000;
  expect(await finds("first")).toBe(true);
});

test("without a good set nothing can be said, until there is one", async () => {
  const { clock, source, finds } = open(first);
  const { read } = source;
  source.read = away;
  await expect(finds("first")).rejects.toThrow("Cannot verify token: the keys of its issuer cannot be read");
  source.read = read;
  await expect(finds("first")).rejects.toThrow(NoKeySetError);
  expect(source.reads).toBe(1);
  clock.now = 30_000;
  expect(await finds("first")).toBe(true);
});

test("a set of unusable keys only is a set: no token of it is valid", async () => {
  const { finds } = open();
  expect(await finds("first")).toBe(false);
});

test("a clock that is set back does not keep old keys", async () => {
  const { clock, source, finds } = open(first);
  clock.now = 10 * hour;
  await finds("first");
  clock.now = 9 * hour;
  await finds("first");
  expect(source.reads).toBe(2);
});
