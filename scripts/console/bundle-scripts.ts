import { rolldown, type InputOptions, type OutputOptions } from "rolldown";

/** One JavaScript file of the console. */
export interface ConsoleScript {
  /** With a digest of its content in it. */
  readonly name: string;
  readonly code: string;
  /** Whether the first page needs it before it can show anything. */
  readonly isFirst: boolean;
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
    transform: {
      // `URLPattern`, which has no stand-in, came to browsers after all of these.
      target: ["chrome125", "firefox142", "safari26"],
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
export async function bundleScripts(root: string): Promise<readonly ConsoleScript[]> {
  const bundle = await rolldown(consoleInput(root));
  const { output } = await bundle.generate(consoleOutput);
  await bundle.close();
  const chunks = output.filter((file) => file.type === "chunk");
  if (chunks.length !== output.length) throw new Error(`Cannot bundle ${consoleEntry}: it is more than scripts`);
  const first = firstChunks(chunks);
  return chunks.map(({ fileName, code }) => ({ name: fileName, code, isFirst: first.has(fileName) }));
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
