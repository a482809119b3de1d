import { expect, test } from "vitest";

import type { FolderContent } from "../../../../runtime/api/folders/folder-content.ts";
import { isSnapshotName, snapshotName } from "../../../../runtime/core/folders/snapshot-name.ts";

const hello = { namespace: "functions", name: "hello" };
const entries: readonly FolderContent[] = [
  { kind: "directory", path: "sub" },
  { kind: "file", path: "sub/a", size: 1, executable: false, digest: "aa" },
  { kind: "link", path: "b", target: "sub/a" },
];

test("the order in which entries were found does not count", () => {
  expect(snapshotName([...entries].reverse(), hello, [])).toBe(snapshotName(entries, hello, []));
});

test.each<[what: string, changed: readonly FolderContent[]]>([
  ["a file's content", [{ kind: "file", path: "sub/a", size: 1, executable: false, digest: "ab" }]],
  ["its executable bit", [{ kind: "file", path: "sub/a", size: 1, executable: true, digest: "aa" }]],
  ["its name", [{ kind: "file", path: "sub/c", size: 1, executable: false, digest: "aa" }]],
  ["a link's target", [{ kind: "link", path: "b", target: "sub" }]],
  ["what a name is", [{ kind: "directory", path: "b" }]],
  ["an empty directory", [{ kind: "directory", path: "other" }]],
])("%s counts", (_what, changed) => {
  const others = entries.filter(({ path }) => changed.every((each) => each.path !== path));
  expect(snapshotName([...others, ...changed], hello, [])).not.toBe(snapshotName(entries, hello, []));
});

test("functions share equal content, but not what commands made of it", () => {
  const other = { ...hello, name: "other" };
  expect(snapshotName(entries, other, [])).toBe(snapshotName(entries, hello, []));
  const names = [
    snapshotName(entries, hello, []),
    snapshotName(entries, hello, ["npm ci"]),
    snapshotName(entries, hello, ["npm ci", "npm test"]),
    snapshotName(entries, other, ["npm ci"]),
  ];
  expect(new Set(names).size).toBe(4);
  expect(names.every(isSnapshotName)).toBe(true);
});

test.each(["", "x", "0".repeat(39), "0".repeat(41), "G".repeat(40), `${"0".repeat(39)}/`, `/${"0".repeat(39)}`])(
  "%j is no name of a snapshot",
  (name) => expect(isSnapshotName(name)).toBe(false),
);
