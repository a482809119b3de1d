import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { isFreePort } from "../support/free-port.ts";
import { commandBlocks, printsAsShown, type CommandBlock } from "../support/markdown-blocks.ts";
import { openShell, type ShellSession } from "../support/shell-session.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [start, ...walk] = commandBlocks(readme);

/** What only asks may be asked again until the answer is there, as a person would. */
const onlyAsks = ({ commands }: CommandBlock) =>
  !commands.includes("\n") && commands.startsWith("curl ") && !/ -(?:X|d|H) /.test(commands);

/** One after the other as the README has them; each block is a test, and all share one shell. */
describe("README", () => {
  const opened: { directory?: TempDirectory; weir?: WeirProcess; shell?: ShellSession } = {};
  let asHere: (text: string) => string;

  beforeAll(async () => {
    opened.directory = await tempDirectory("readme");
    const ownPorts = (await isFreePort(8080)) && (await isFreePort(8082));
    const flags = ownPorts ? ["--port", "8080", "--admin-port", "8082"] : [];
    const weir = await startWeir({ data: opened.directory.path, through: "npm", flags, within: 120_000 });
    opened.weir = weir;
    opened.shell = openShell({ directory: root });
    asHere = (text) =>
      text
        .replaceAll("http://127.0.0.1:8080", weir.url)
        .replaceAll("http://127.0.0.1:8082", weir.adminUrl)
        .replaceAll(".weir/", `${weir.data}/`)
        .replaceAll(/npm run example -- ([\w-]+)/g, `npm run example -- $1 --gateway ${weir.url} --data ${weir.data}`);
  }, 150_000);

  afterAll(async () => {
    await opened.shell?.close();
    await opened.weir?.close();
    await opened.directory?.remove();
  });

  test("begins with npm start, which prints what it shows", async () => {
    expect(start?.commands).toBe("npm start");
    await eventually(() => printsAsShown(opened.weir?.output() ?? "", asHere(start?.shows ?? "")), {
      within: 5_000,
      what: `what line ${start?.line} shows`,
    });
  });

  test.each(walk.map((block) => [block.line, block] as const))("line %i", { timeout: 90_000 }, async (_line, block) => {
    const { shell } = opened;
    if (shell === undefined) throw new Error("Cannot walk through: Weir did not start");
    const shows = asHere(block.shows ?? "…");
    const run = async () => {
      const { stdout, stderr, code } = await shell.run(asHere(block.commands));
      return { stdout, stderr, code, asShown: code === 0 && printsAsShown(stdout, shows) };
    };
    let answer = await run();
    const until = performance.now() + 10_000;
    while (!answer.asShown && onlyAsks(block) && performance.now() < until) answer = await run();

    expect(answer, `it must print:\n${shows}\n`).toMatchObject({ code: 0, asShown: true });
  });

  test("ends with Ctrl-C, and nothing is left", async () => {
    await opened.weir?.stop();
  }, 60_000);
});
