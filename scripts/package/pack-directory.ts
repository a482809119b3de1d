import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What `npm pack` made. */
export interface PackedDirectory {
  readonly name: string;
  readonly version: string;
  /** Of the tarball, in the directory it was put. */
  readonly filename: string;
  /** Hash of the tarball (Subresource Integrity). */
  readonly integrity: string;
  readonly files: readonly { readonly path: string }[];
}

/** Packs the npm package in the directory `from` into a tarball in `to`: the same content makes the same bytes. */
export async function packDirectory(from: string, to: string): Promise<PackedDirectory> {
  const args = ["pack", "--json", "--ignore-scripts", `--pack-destination=${to}`];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: from, maxBuffer: 2 ** 26 });
  const packed: unknown = JSON.parse(stdout);
  // A list until npm 11, a mapping by name since.
  const [made] = Object.values(packed as Readonly<Record<string, PackedDirectory>>);
  if (made === undefined) throw new Error("Cannot make the package: npm pack made nothing");
  return made;
}
