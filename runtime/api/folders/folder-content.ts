import { createHash } from "node:crypto";

/** Something in a folder that is not left out; `path` is relative to it, with `/` between its parts. */
export type FolderEntry =
  | { readonly kind: "directory"; readonly path: string }
  /** `size` in bytes. */
  | { readonly kind: "file"; readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

/** An entry with the SHA-256 of a file's content, in hexadecimal. */
export type FolderContent = Exclude<FolderEntry, { kind: "file" }> | (FolderEntry & { kind: "file"; digest: string });

/** Hexadecimal digits of a tag. */
const tagLength = 12;

/**
 * What a program sees of a folder, in one order: equal for equal content. Times, owners and modes other than the
 * executable bit do not count, and directories only where they are empty.
 */
export function folderFacts(entries: readonly FolderContent[]): readonly (readonly unknown[])[] {
  const full = new Set(entries.flatMap(({ path }) => parentOf(path) ?? []));
  return entries
    .filter(({ kind, path }) => kind !== "directory" || !full.has(path))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .map(factsOf);
}

/** The image of a function that is run from a folder with this content. */
export function folderImage(name: string, entries: readonly FolderContent[]): string {
  return `local/${name}:${folderTag(entries)}`;
}

/** The tag of {@link folderImage}: the first 12 hexadecimal digits of the SHA-256 of {@link folderFacts}. */
export function folderTag(entries: readonly FolderContent[]): string {
  return createHash("sha256")
    .update(JSON.stringify(folderFacts(entries)))
    .digest("hex")
    .slice(0, tagLength);
}

/** The tag in an image that may be one of {@link folderImage}. */
export function folderTagIn(image: string): string | undefined {
  return /^local\/[^/:]+:([0-9a-f]{12})$/.exec(image)?.[1];
}

function parentOf(path: string): string | undefined {
  const end = path.lastIndexOf("/");
  return end === -1 ? undefined : path.slice(0, end);
}

function factsOf(entry: FolderContent): readonly unknown[] {
  switch (entry.kind) {
    case "directory":
      return ["d", entry.path];
    case "file":
      return ["f", entry.path, entry.executable, entry.digest];
    case "link":
      return ["l", entry.path, entry.target];
    default:
      return entry satisfies never;
  }
}
