import { readFileSync } from "node:fs";

import { afterAll, describe, expect, test } from "vitest";

import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { isFreePort } from "../support/free-port.ts";
import { commandBlocks, printsAsShown, type CommandBlock } from "../support/markdown-blocks.ts";
import { walkDocument } from "../support/walk-document.ts";
import { asOf, walkedWeir } from "../support/walked-weir.ts";

const blocks = commandBlocks(readFileSync(new URL("../../README.md", import.meta.url), "utf8"));
const containers = blocks.findIndex(({ commands }) => commands === "npm start -- --provider docker");

/** One after the other as the README has them; each block is a test, and all share one shell. */
describe("README, with processes", () => {
  walkFrom("npm start -- --provider local", blocks.slice(0, containers), async () => ["--provider", "local"]);
});

describe.skipIf(noDockerEngine() !== undefined)("README, with containers", () => {
  let engine: TestDockerEngine | undefined;
  afterAll(() => engine?.close(), 90_000);
  walkFrom("npm start -- --provider docker", blocks.slice(containers), async () => {
    engine = await openDockerEngine();
    return ["--provider", "docker", "--docker-socket", engine.socket];
  });
});

/** The first block starts Weir, the others are run in a second terminal. */
function walkFrom(
  command: string,
  [start, ...walk]: readonly CommandBlock[],
  flagsHere: () => Promise<readonly string[]>,
): void {
  let provider: readonly string[] = [];
  const walked = walkedWeir(
    "readme",
    async () => {
      provider = await flagsHere();
      const ownPorts = (await isFreePort(8080)) && (await isFreePort(8082));
      const ports = ownPorts ? ["--port", "8080", "--admin-port", "8082"] : [];
      return { through: "npm", flags: [...provider, ...ports], within: 120_000 };
    },
    300_000,
  );
  const asHere = (text: string): string => {
    const { weir } = walked();
    const socket = provider.slice(2).join(" ");
    const here = `--gateway ${weir.url} --data ${weir.data} ${socket}`;
    return asOf(weir, text)
      .replaceAll(/npm run example -- ([\w-]+)/g, `npm run example -- $1 ${here}`)
      .replaceAll("npm run base-image", `npm run base-image -- ${socket}`);
  };

  test("begins with npm start, which prints what it shows", async () => {
    expect(start?.commands).toBe(command);
    await eventually(() => printsAsShown(walked().weir.output(), asHere(start?.shows ?? "")), {
      what: `what line ${start?.line} shows`,
    });
  });

  walkDocument(walk, () => ({ shell: walked().shell, asHere }));

  test("ends with Ctrl-C, and nothing is left", async () => {
    await walked().weir.stop();
  });
}
