import { fileURLToPath } from "node:url";

import { afterAll, beforeAll } from "vitest";

import { openShell, type ShellSession } from "./shell-session.ts";
import { tempDirectory, type TempDirectory } from "./temp-directory.ts";
import { startWeir, type WeirOptions, type WeirProcess } from "./weir-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the commands of a document run with. */
export interface WalkedWeir {
  /** Whatever it holds goes with the suite. */
  readonly directory: TempDirectory;
  readonly weir: WeirProcess;
  /** In the repository, as a second terminal. */
  readonly shell: ShellSession;
}

type Options = Omit<WeirOptions, "data">;

/** Has a Weir and a shell for the suite it is called in: opened before its tests, `within` milliseconds, closed after them. */
export function walkedWeir(
  name: string,
  options: Options | (() => Promise<Options>),
  within = 90_000,
): () => WalkedWeir {
  const opened: { directory?: TempDirectory; weir?: WeirProcess; shell?: ShellSession } = {};

  beforeAll(async () => {
    opened.directory = await tempDirectory(name);
    opened.weir = await startWeir({
      data: `${opened.directory.path}/data`,
      ...(typeof options === "function" ? await options() : options),
    });
    opened.shell = openShell({ directory: root });
  }, within);

  afterAll(async () => {
    await opened.shell?.close();
    await opened.weir?.close();
    await opened.directory?.remove();
  });

  return () => {
    const { directory, shell, weir } = opened;
    if (directory === undefined || shell === undefined || weir === undefined)
      throw new Error("Cannot walk through: Weir did not start");
    return { directory, shell, weir };
  };
}
