import { execFile } from "node:child_process";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** One component of an image. */
export interface SoftwarePart {
  readonly type: "application" | "library";
  readonly name: string;
  readonly version: string;
  /** Package URL. */
  readonly purl: string;
  readonly license?: string;
}

/**
 * A software bill of materials (CycloneDX 1.6, JSON) without time and serial number: the same parts give the same text.
 */
export function softwareList(
  whole: { readonly type?: "container" | "library"; readonly name: string; readonly version: string },
  parts: readonly SoftwarePart[],
): string {
  const components = parts
    .map(({ license, ...part }) => ({
      ...part,
      "bom-ref": part.purl,
      ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    }))
    .toSorted((a, b) => (a.purl < b.purl ? -1 : 1));
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "container" as const, "bom-ref": whole.name, ...whole } },
    components,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** An npm package; a license that is not a text, as in old packages, is left out. */
export function npmPart(name: string, version: string, license: unknown): SoftwarePart {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return { type: "library", name, version, purl, ...(typeof license === "string" ? { license } : {}) };
}

/** The npm packages below a directory `node_modules`, including nested ones. */
export async function packagesBelow(directory: string): Promise<SoftwarePart[]> {
  const parts = new Map<string, SoftwarePart>();
  for await (const path of glob(["*/package.json", "@*/*/package.json", "**/node_modules/{*,@*/*}/package.json"], {
    cwd: directory,
  })) {
    const { name, version, license } = JSON.parse(
      await readFile(join(directory, path), "utf8"),
    ) as Partial<SoftwarePart>;
    if (name === undefined || version === undefined) continue;
    const part = npmPart(name, version, license);
    parts.set(part.purl, part);
  }
  return [...parts.values()];
}

/** The Debian packages that files of this machine belong to; none without dpkg. */
export async function systemPackages(files: readonly string[]): Promise<SoftwarePart[]> {
  const names = new Set<string>();
  for (const file of files) for (const name of await ownersOf(file)) names.add(name);
  const parts: SoftwarePart[] = [];
  for (const name of names) {
    const { stdout } = await run("dpkg-query", ["--show", "--showformat=${Package} ${Version} ${Architecture}", name]);
    const [bare = "", version = "", arch = ""] = stdout.split(" ");
    const purl = `pkg:deb/debian/${bare}@${encodeURIComponent(version)}?arch=${arch}`;
    parts.push({ type: "library", name: bare, version, purl });
  }
  return parts;
}

async function ownersOf(file: string): Promise<string[]> {
  // With merged directories, a package may still list its files by their old paths.
  for (const path of [file, file.replace(/^\/usr\//, "/")]) {
    const found = await run("dpkg-query", ["--search", path]).catch(() => undefined);
    if (found !== undefined) return [found.stdout.split(": ", 1)[0] ?? ""].filter((name) => name !== "");
  }
  return [];
}
