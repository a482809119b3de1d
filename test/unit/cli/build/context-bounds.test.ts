import { describe, expect, test } from "vitest";

import { folderLimits } from "../../../../runtime/api/folders/folder-rules.ts";
import { ContextBounds, isWithin, type ContextEntry } from "../../../../runtime/cli/build/context-bounds.ts";

const file = (size: number): ContextEntry => ({ kind: "file", path: "file", mode: 0o644, size });
const place = { directory: "/project/app", project: "/project" };

describe("what a folder may hold", () => {
  test.each([
    ["files", file(0), folderLimits.files, "20000 files"],
    ["links", { kind: "link", path: "link", target: "file" } as const, folderLimits.files, "20000 files"],
    [
      "directories",
      { kind: "directory", path: "d", mode: 0o755 } as const,
      folderLimits.directories,
      "20000 directories",
    ],
    ["bytes", file(2 ** 20), 512, "512 MiB"],
  ])("%s up to the limit, and not one more", (_name, entry, most, words) => {
    const bounds = new ContextBounds({ ...place, use: "image" });
    const faults = Array.from({ length: most }, () => bounds.add(entry));
    expect(faults.find((fault) => fault !== undefined)).toBeUndefined();
    expect(bounds.add(entry)).toContain(`holds more than ${words}; list`);
  });
});

describe("a link", () => {
  const faultOf = (use: "snapshot" | "image", path: string, target: string): string | undefined =>
    new ContextBounds({ ...place, use }).add({ kind: "link", path, target });

  test.each([
    ["beside it", "a/link", "file"],
    ["above it, in the folder", "a/link", "../file"],
    ["to the folder itself", "link", "."],
    ["to a name that begins with two dots", "link", "..file"],
  ])("%s is fine", (_name, path, target) => {
    expect([faultOf("image", path, target), faultOf("snapshot", path, target)]).toEqual([undefined, undefined]);
  });

  test.each([
    ["out of the project", "link", "../../etc"],
    ["out of it in a deeper way", "a/link", "../../../etc"],
    ["to a place beside it with its name as a beginning", "link", "../../project-2/file"],
    ["to an absolute path", "link", "/etc/passwd"],
  ])("%s is refused for both", (_name, path, target) => {
    expect(faultOf("image", path, target)).toBe(`link "${path}" leaves the project, to "${target}"`);
    expect(faultOf("snapshot", path, target)).toBe(`link "${path}" leaves its folder, to "${target}"`);
  });

  test.each([
    ["to elsewhere in the project", "link", "../shared"],
    ["to an absolute path in the folder", "link", "/project/app/file"],
  ])("%s is refused for a snapshot, which would lead to what changes", (_name, path, target) => {
    expect(faultOf("image", path, target)).toBeUndefined();
    expect(faultOf("snapshot", path, target)).toContain("leaves its folder");
  });
});

test.each([
  ["/a", "/a", true],
  ["/a/b", "/a", true],
  ["/ab", "/a", false],
  ["/", "/a", false],
  ["/a", "/", true],
])("%s is within %s: %s", (path, directory, expected) => {
  expect(isWithin(path, directory)).toBe(expected);
});
