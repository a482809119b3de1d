import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { environment } from "../../runtime/process/settings.ts";
import { bundleCli } from "../../scripts/package/bundle-cli.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { startWeir } from "../../test/support/weir-process.ts";

/** The packed command in a project whose function is deployed to a Weir of its own. */
export interface BenchCommand extends AsyncDisposable {
  /** The program that is run with Node.js. */
  readonly program: string;
  /** Holds `weir.yaml` and the program of function `hello`, of template node. */
  readonly project: string;
  /** Of the Weir. */
  readonly url: string;
  /** Leads the command to the Weir, with credentials. */
  readonly variables: Readonly<Record<string, string>>;
  /** Runs the command in the project; rejects when it fails. */
  run(args: readonly string[], variables?: Readonly<Record<string, string>>): Promise<{ readonly stderr: string }>;
}

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Packs the command, starts a Weir, and deploys a function with `weir init` and `weir up`. */
export async function openCommand(): Promise<BenchCommand> {
  const opened = new AsyncDisposableStack();
  try {
    const place = await tempDirectory("bench-cli");
    opened.defer(() => place.remove());
    const program = join(place.path, "weir.mjs");
    await writeFile(program, (await bundleCli(repository)).code);
    const weir = await startWeir({ data: join(place.path, "data") });
    opened.defer(() => weir.stop());
    const variables = {
      HOME: place.path,
      PATH: environment()["PATH"] ?? "",
      WEIR_GATEWAY: weir.url,
      WEIR_PASSWORD_FILE: join(place.path, "data", "credentials", "basic-auth-password"),
    };
    const project = join(place.path, "hello");
    const runIn = async (cwd: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      await promisify(execFile)(process.execPath, [program, ...args], {
        cwd,
        env: { ...variables, ...more },
        maxBuffer: 2 ** 26,
      });
    await runIn(place.path, ["init", "hello", "--template", "node"]);
    await runIn(project, ["up"]);
    return {
      program,
      project,
      url: weir.url,
      variables,
      run: (args, more) => runIn(project, args, more),
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}
