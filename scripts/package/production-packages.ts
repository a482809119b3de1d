import { npmPart, type SoftwarePart } from "../images/software-list.ts";

/** The parts of `package-lock.json` that are read (lockfile version 3). */
export interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly license?: string; readonly dev?: boolean }>
  >;
}

/** The npm packages that are installed with `--omit=dev`, on any machine. */
export function productionPackages({ packages }: Lockfile): SoftwarePart[] {
  const parts = new Map<string, SoftwarePart>();
  for (const [path, { version, license, dev }] of Object.entries(packages)) {
    const name = path.split("node_modules/").at(-1) ?? "";
    if (name === "" || version === undefined || dev === true) continue;
    const part = npmPart(name, version, license);
    parts.set(part.purl, part);
  }
  return [...parts.values()];
}
