import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { FunctionUsers } from "../../../../../runtime/adapters/machine/local/function-users.ts";
import { takeUserBlock, type UserBlock } from "../../../../../runtime/adapters/machine/local/user-blocks.ts";
import { holdLock } from "../../../../../runtime/process/hold-lock.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";

const ref = (name: string) => ({ namespace: "functions", name });
const release = async (): Promise<void> => {};

/** Returns these blocks, one after the other. */
function blocks(...ranges: readonly (readonly [first: number, count: number])[]): () => Promise<UserBlock | undefined> {
  const left = ranges.map(([first, count]) => ({ first, count, release }));
  return async () => left.shift();
}

test("a function keeps its user, and gets the same one in another process with the same block", async () => {
  const users = new FunctionUsers(blocks([61_184, 256]));
  const user = await users.hold(ref("hello"));
  expect(await users.hold(ref("hello"))).toBe(user);
  expect(await new FunctionUsers(blocks([61_184, 256])).hold(ref("hello"))).toBe(user);
});

test("functions share no user; when a block is full another is taken, until there is none", async () => {
  const users = new FunctionUsers(blocks([61_184, 3], [61_440, 2]));
  const held = await Promise.all(Array.from({ length: 5 }, (_, index) => users.hold(ref(`f${index}`))));
  expect(held.toSorted((a, b) => a - b)).toEqual([61_184, 61_185, 61_186, 61_440, 61_441]);
  expect(held.slice(0, 3).every((user) => user < 61_440)).toBe(true);
  await expect(users.hold(ref("one-more"))).rejects.toThrow("all users for functions of this machine are taken");
  users.release(ref("f1"));
  expect(await users.hold(ref("one-more"))).toBe(held[1]);
});

test("a block belongs to one process until it is released, and the blocks cover the range of users", async () => {
  await using directory = await tempDirectory("users");
  const path = join(directory.path, "users");
  const take = () => takeUserBlock(holdLock, path, nobody);
  const taken: UserBlock[] = [];
  for (let block = await take(); block !== undefined; block = await take()) taken.push(block);
  expect(taken.length).toBeGreaterThan(0);
  const users = taken.flatMap(({ first, count }) => Array.from({ length: count }, (_, index) => first + index));
  expect(new Set(users).size).toBe(users.length);
  expect(Math.min(...users)).toBeGreaterThanOrEqual(61_184);
  expect(Math.max(...users)).toBeLessThanOrEqual(65_519);
  await taken[0]?.release();
  expect((await take())?.first).toBe(taken[0]?.first);
  expect(await readdir(path)).toHaveLength(taken.length);
});

test("a block that was released is taken again", async () => {
  await using directory = await tempDirectory("users");
  const lock = async (file: string) => {
    await mkdir(directory.path, { recursive: true });
    return holdLock(file);
  };
  const first = await takeUserBlock(lock, directory.path, nobody);
  await first?.release();
  expect((await takeUserBlock(lock, directory.path, nobody))?.first).toBe(first?.first);
});

test("a block of a process that runs is not taken, though nobody holds its lock", async () => {
  await using directory = await tempDirectory("users");
  const path = join(directory.path, "users");
  const block = await takeUserBlock(holdLock, path, async () => [0, 61_439]);
  expect(block?.first).toBe(61_440);
});

/** The machine's other processes may be functions of another Weir. */
const nobody = async (): Promise<readonly number[]> => [];
