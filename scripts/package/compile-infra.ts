import { execFile } from "node:child_process";
import { readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Separate from the sources: if both are in one directory, compilers use the sources. */
const compiled = "compiled";
/** The module `weir/infra`, from the root of the package, without extension. */
const entry = "infra/exports";

interface Manifest {
  readonly files: readonly string[];
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/**
 * Compiles what other programs import from the package in `directory`, because Node runs only JavaScript below
 * `node_modules`: each source that `weir/infra` needs, and its types, are written to `compiled`. Pulumi's packages
 * become optional peer dependencies, provided by the importing program.
 */
export async function compileInfra(root: string, directory: string): Promise<void> {
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  try {
    const paths = ["--rootDir", directory, "--outDir", join(directory, compiled)];
    const flags = ["--noEmit", "false", "--declaration", "--rewriteRelativeImportExtensions"];
    await writeFile(join(directory, "tsconfig.package.json"), await compilerOptions(root));
    await run(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.package.json", ...flags, ...paths], {
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

/** The compiler keeps the names of sources in the types that it writes. */
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
