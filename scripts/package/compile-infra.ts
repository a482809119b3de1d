import { execFile } from "node:child_process";
import { readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Apart from the sources: where both stand, compilers take the sources. */
const compiled = "compiled";
/** What `weir/infra` is, from the root of the package, without its ending. */
const entry = "infra/exports";

interface Manifest {
  readonly files: readonly string[];
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/**
 * Makes what other programs import from the package that lies in `directory` one that Node runs below `node_modules`,
 * where it takes JavaScript alone: that of each source that `weir/infra` needs, and its types, stand in `compiled`. What
 * Pulumi brings is named as wanted from the program that imports it; all else does without.
 */
export async function compileInfra(root: string, directory: string): Promise<void> {
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  try {
    const places = ["--rootDir", directory, "--outDir", join(directory, compiled)];
    const flags = ["--noEmit", "false", "--declaration", "--rewriteRelativeImportExtensions"];
    await writeFile(join(directory, "tsconfig.package.json"), await compilerOptions(root));
    await run(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.package.json", ...flags, ...places], {
      cwd: directory,
    });
  } finally {
    await rm(join(directory, "tsconfig.package.json"), { force: true });
    await rm(join(directory, "node_modules"));
  }
  for (const file of await readdir(join(directory, compiled), { recursive: true }))
    if (file.endsWith(".d.ts")) await rewriteImports(join(directory, compiled, file));
  await describe(directory);
}

async function compilerOptions(root: string): Promise<string> {
  const { compilerOptions: options } = JSON.parse(await readFile(join(root, "tsconfig.json"), "utf8")) as {
    readonly compilerOptions: object;
  };
  return JSON.stringify({ compilerOptions: options, files: [`${entry}.ts`] });
}

/** The compiler leaves the names of sources in what it writes of types. */
async function rewriteImports(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replaceAll(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1.js"'));
}

async function describe(directory: string): Promise<void> {
  const file = join(directory, "package.json");
  const manifest = JSON.parse(await readFile(file, "utf8")) as Manifest;
  const wanted = Object.entries(manifest.devDependencies).filter(([name]) => name.startsWith("@pulumi/"));
  const described = {
    ...manifest,
    files: [...manifest.files, compiled],
    exports: {
      "./infra": { types: `./${compiled}/${entry}.d.ts`, default: `./${compiled}/${entry}.js` },
    },
    peerDependencies: Object.fromEntries(wanted.map(([name, version]) => [name, `^${version}`])),
    peerDependenciesMeta: Object.fromEntries(wanted.map(([name]) => [name, { optional: true }])),
  };
  await writeFile(file, `${JSON.stringify(described, undefined, 2)}\n`);
}
