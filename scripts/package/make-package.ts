import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { softwareList } from "../images/software-list.ts";
import { compileInfra } from "./compile-infra.ts";
import { packDirectory } from "./pack-directory.ts";
import { productionPackages, type Lockfile } from "./production-packages.ts";

const run = promisify(execFile);

/** A package and the list of its components. */
export interface MadePackage {
  /** Paths. */
  readonly tarball: string;
  readonly softwareList: string;
  /** Hash of the tarball, as reported by npm (Subresource Integrity). */
  readonly integrity: string;
  /** Paths in it. */
  readonly files: readonly string[];
}

/** Packs the project in `root` into `directory`, which must exist: the same content makes the same bytes. */
export async function makePackage(root: string, directory: string): Promise<MadePackage> {
  const made = await withSources(root, async (sources) => {
    await compileInfra(root, sources);
    return packDirectory(sources, directory);
  });
  const lockfile = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as Lockfile;
  const { name, version, filename, integrity, files } = made;
  const list = join(directory, `${name}-${version}.cdx.json`);
  const whole = { type: "library" as const, name, version };
  await writeFile(list, softwareList(whole, productionPackages(lockfile)));
  return { tarball: join(directory, filename), softwareList: list, integrity, files: files.map(({ path }) => path) };
}

/** Calls `use` with a directory that contains the files of the package. */
async function withSources<T>(root: string, use: (sources: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "weir-package-"));
  try {
    const { filename } = await packDirectory(root, directory);
    await run("tar", ["-xzf", filename], { cwd: directory });
    const sources = join(directory, "package");
    // Only where the console was built; `npm start` builds it from the sources.
    await rm(join(sources, "runtime/console/dist"), { recursive: true, force: true });
    return await use(sources);
  } finally {
    await rm(directory, { recursive: true });
  }
}
