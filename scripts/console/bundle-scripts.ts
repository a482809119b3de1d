import { rolldown, type InputOptions, type OutputOptions } from "rolldown";

import { packageOf } from "../images/bundle-sources.ts";

/** One JavaScript file of the console. */
export interface ConsoleScript {
  /** With a digest of its content in it. */
  readonly name: string;
  readonly code: string;
  /** Whether the first page needs it before it can show anything. */
  readonly isFirst: boolean;
}

/** All scripts of the console. */
export interface BundledScripts {
  readonly scripts: readonly ConsoleScript[];
  /** Directories of the npm packages in them, sorted. */
  readonly packages: readonly string[];
}

/** The first program, from the root of the repository. */
export const consoleEntry = "runtime/console/app.tsx";

/** The group of the page that most people open first. */
const firstPage = "/pages/overview/overview-pages.ts";

/** How the console's sources become scripts: a chunk for each group of pages, and those that several of them share. */
export function consoleInput(root: string): InputOptions {
  return {
    cwd: root,
    input: { app: consoleEntry },
    platform: "browser",
    // It extends that of the repository, which packages and images do not have.
    tsconfig: false,
    transform: {
      jsx: { runtime: "automatic", importSource: "preact" },
      typescript: { onlyRemoveTypeImports: true },
      // The first with `URLPattern` and `Uint8Array.fromBase64`, which have no stand-in.
      target: ["chrome140", "firefox142", "safari26"],
      define: { "process.env.NODE_ENV": '"production"' },
    },
  };
}

export const consoleOutput: OutputOptions = {
  format: "esm",
  entryFileNames: "[name]-[hash].js",
  chunkFileNames: "[name]-[hash].js",
  hashCharacters: "base36",
  minify: true,
  comments: false,
};

/** Bundles the console's scripts with the packages that they use. */
export async function bundleScripts(root: string): Promise<BundledScripts> {
  const bundle = await rolldown(consoleInput(root));
  const { output } = await bundle.generate(consoleOutput);
  await bundle.close();
  const chunks = output.filter((file) => file.type === "chunk");
  if (chunks.length !== output.length) throw new Error(`Cannot bundle ${consoleEntry}: it is more than scripts`);
  const first = firstChunks(chunks);
  const packages = new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageOf)));
  return {
    scripts: chunks.map(({ fileName, code }) => ({ name: fileName, code, isFirst: first.has(fileName) })),
    packages: [...packages].toSorted(),
  };
}

interface BundledChunk {
  readonly fileName: string;
  readonly isEntry: boolean;
  /** The module that it was made for; null for what several chunks share. */
  readonly facadeModuleId: string | null;
  readonly imports: readonly string[];
}

/** The entry, the first page, and what they import, and what that imports, but nothing that is imported later. */
function firstChunks(chunks: readonly BundledChunk[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) visit(next);
  };
  for (const { fileName, isEntry, facadeModuleId } of chunks)
    if (isEntry || facadeModuleId?.endsWith(firstPage) === true) visit(fileName);
  return found;
}
