import { expect, test } from "vitest";

import { printsAsShown, type CommandBlock } from "./markdown-blocks.ts";
import type { ShellSession } from "./shell-session.ts";

/** What only asks may be asked again until the answer is there, as a person would. */
const onlyAsks = ({ commands }: CommandBlock) =>
  !commands.includes("\n") && commands.startsWith("curl ") && !/ -(?:X|d|H) /.test(commands);

/** Where the commands of a document run, and how its addresses and paths are called there. */
export interface Walk {
  readonly shell: ShellSession;
  readonly asHere: (text: string) => string;
}

/** Makes each block a test: run one after the other in one shell, each must end well and print what the document shows. */
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
      let answer = await run();
      const until = performance.now() + 10_000;
      while (!answer.asShown && onlyAsks(block) && performance.now() < until) answer = await run();

      expect(answer, `it must print:\n${shows}\n`).toMatchObject({ code: 0, asShown: true });
    },
  );
}
