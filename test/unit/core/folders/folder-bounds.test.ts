import { expect, test } from "vitest";

import { folderLimits } from "../../../../runtime/api/folders/folder-rules.ts";
import { FolderBounds } from "../../../../runtime/core/folders/folder-bounds.ts";
import type { FolderEntry } from "../../../../runtime/api/folders/folder-content.ts";

const file = (size = 0): FolderEntry => ({ kind: "file", path: "f", size, executable: false });
const directory: FolderEntry = { kind: "directory", path: "d" };
const link = (path: string, target: string): FolderEntry => ({ kind: "link", path, target });

/** What is said about the last of the entries; nothing may be said before. */
function lastFault(entries: readonly FolderEntry[]): string | undefined {
  const bounds = new FolderBounds();
  const faults = entries.map((entry) => bounds.add(entry));
  expect(faults.slice(0, -1).filter((fault) => fault !== undefined)).toEqual([]);
  return faults.at(-1);
}

test("20 000 files and links, as many directories and 512 MiB fit, and no more", () => {
  const { files, directories, bytes } = folderLimits;
  const many = <T>(count: number, entry: T): T[] => Array.from({ length: count }, () => entry);
  expect([files, directories, bytes]).toEqual([20_000, 20_000, 536_870_912]);
  expect(lastFault([...many(files - 1, file()), link("l", "f")])).toBeUndefined();
  expect(lastFault([...many(files, file()), link("l", "f")])).toMatch(/^it holds more than 20000 files; /);
  expect(lastFault(many(directories, directory))).toBeUndefined();
  expect(lastFault(many(directories + 1, directory))).toMatch(/^it holds more than 20000 directories; /);
  expect(lastFault([file(bytes - 1), file(1)])).toBeUndefined();
  expect(lastFault([file(bytes), file(1)])).toMatch(/^it holds more than 512 MiB; /);
  expect(lastFault([link("l", "f"), directory, file(bytes), file(1)])).toMatch(/^it holds more than 512 MiB; /);
});

test.each([
  ["a", "b", true],
  ["a", "./sub/../b", true],
  ["sub/a", "../b", true],
  ["sub/deep/a", "../..", true],
  ["a", "..b", true],
  ["a", "sub../b", true],
  ["a", "..", false],
  ["a", "../folder/b", false],
  ["sub/a", "../../b", false],
  ["sub/a", "/srv/folder/b", false],
])("a link %s to %s: inside = %s", (path, target, isInside) => {
  const fault = isInside ? undefined : `its link "${path}" leads out of it, to "${target}"`;
  expect(new FolderBounds().add(link(path, target))).toBe(fault);
});
