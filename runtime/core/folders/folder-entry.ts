/** Something in a folder that is not left out; `path` is relative to it, with `/` between its parts. */
export type FolderEntry =
  | { readonly kind: "directory"; readonly path: string }
  /** `size` in bytes. */
  | { readonly kind: "file"; readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

/** An entry as it was copied, with the digest of a file's content. */
export type CopiedEntry = Exclude<FolderEntry, { kind: "file" }> | (FolderEntry & { kind: "file"; digest: string });
