import { expect, test } from "vitest";

import { printsAsShown, type CommandBlock } from "./markdown-blocks.ts";
import type { ShellSession } from "./shell-session.ts";

/** A command that only reads may be repeated until it prints what is shown, as a person would do. */
const isReadOnly = ({ commands }: CommandBlock) =>
  !commands.includes("\n") && commands.startsWith("curl ") && !/ -(?:X|d|H) /.test(commands);

/**
 * The `npm ci` of a document as tests run it: from npm's cache where that has a package, and otherwise a download that
 * stalls begins again after 15 seconds, not after five minutes. What is downloaded stands in stderr.
 */
export const npmCi = "npm ci --prefer-offline --fetch-timeout=15000 --loglevel=http";

/** The shell for the commands of a document, and how its addresses and paths read there. */
export interface Walk {
  readonly shell: ShellSession;
  readonly asHere: (text: string) => string;
}

/** Makes each block a test: in order and in one shell, each must exit with 0 and print what the document shows. */
export function walkDocument(blocks: readonly CommandBlock[], walk: () => Walk): void {
  test.each(blocks.map((block) => [block.line, block] as const))(
    "line %i",
    { timeout: 90_000 },
    async (_line, block) => {
      const { shell, asHere } = walk();
      const shows = asHere(block.shows ?? "…");
      const run = async () => {
        const { stdout, stderr, code } = await shell.run(asHere(block.commands));
        return { stdout, stderr, code, asShown: code === 0 && printsAsShown(stdout, shows) };
      };
      let result = await run();
      const until = performance.now() + 10_000;
      while (!result.asShown && isReadOnly(block) && performance.now() < until) result = await run();

      expect(result, `it must print:\n${shows}\n`).toMatchObject({ code: 0, asShown: true });
    },
  );
}
