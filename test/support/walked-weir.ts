import { fileURLToPath } from "node:url";

import { afterAll, beforeAll } from "vitest";

import type { CommandBlock } from "./markdown-blocks.ts";
import { openShell, type ShellSession } from "./shell-session.ts";
import { tempDirectory, type TempDirectory } from "./temp-directory.ts";
import { walkDocument } from "./walk-document.ts";
import { startWeir, type WeirOptions, type WeirProcess } from "./weir-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the commands of a document need. */
export interface WalkedWeir {
  /** Removed with its content after the suite. */
  readonly directory: TempDirectory;
  readonly weir: WeirProcess;
  /** In the repository, as a second terminal. */
  readonly shell: ShellSession;
}

type Options = Omit<WeirOptions, "data">;

/** Opens a Weir and a shell, in `within` milliseconds, before the tests of the calling suite; closes them after. */
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

/** Makes a test of each block, run in its shell; the addresses and paths of the document are those of `walked`. */
export function walkPage(blocks: readonly CommandBlock[], walked: () => WalkedWeir): void {
  walkDocument(blocks, () => {
    const { shell, weir } = walked();
    return { shell, asHere: (text) => asOf(weir, text) };
  });
}

/** The text of a document, with the addresses and paths of `weir` in place of the usual ones. */
export function asOf({ url, adminUrl, consoleUrl, data }: WeirProcess, text: string): string {
  return text
    .replaceAll("http://127.0.0.1:8080", url)
    .replaceAll("http://127.0.0.1:8081/ui/", consoleUrl ?? "http://127.0.0.1:8081/ui/")
    .replaceAll("http://127.0.0.1:8082", adminUrl)
    .replaceAll(".weir/", `${data}/`);
}
