import { expect, test } from "vitest";

import { FunctionUsers } from "../../../runtime/adapters/local/function-users.ts";

const ref = (name: string) => ({ namespace: "functions", name });

test("a function keeps its user, and gets the same one in another process", () => {
  const users = new FunctionUsers();
  const user = users.hold(ref("hello"));

  expect(users.hold(ref("hello"))).toBe(user);
  expect(new FunctionUsers().hold(ref("hello"))).toBe(user);
});

test("no two functions share a user, none is outside the range, and the last one finds nothing", () => {
  const users = new FunctionUsers();
  const count = 65_519 - 61_184 + 1;
  const held = Array.from({ length: count }, (_, index) => users.hold(ref(`f${index}`)));

  expect(new Set(held).size).toBe(count);
  expect(Math.min(...held)).toBe(61_184);
  expect(Math.max(...held)).toBe(65_519);
  expect(() => users.hold(ref("one-more"))).toThrow("all 4336 users for functions are taken");
  users.release(ref("f7"));
  expect(users.hold(ref("one-more"))).toBe(held[7]);
});
