import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { freePort, isFreePort } from "../support/free-port.ts";
import { commandBlocks, printsAsShown } from "../support/markdown-blocks.ts";
import { walkDocument } from "../support/walk-document.ts";
import { asOf, walkedWeir } from "../support/walked-weir.ts";

const page = (name: string) => commandBlocks(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8"));
const [start, ...walk] = page("README.md");

/** The blocks of the README in order; each is a test, and all share one shell. */
const walked = walkedWeir(
  "readme",
  async () => {
    const ownPorts = (await isFreePort(8080)) && (await isFreePort(8082));
    const ports = ownPorts ? ["--port", "8080", "--admin-port", "8082"] : [];
    const consolePort = (await isFreePort(8081)) ? 8081 : await freePort();
    const flags = ["--provider", "local", "--console-port", `${consolePort}`, ...ports];
    return { through: "npm", flags, within: 120_000 };
  },
  300_000,
);

function asHere(text: string): string {
  const { weir } = walked();
  const here = `--gateway ${weir.url} --data ${weir.data}`;
  return asOf(weir, text).replaceAll(/npm run example -- ([\w-]+)/g, `npm run example -- $1 ${here}`);
}

test("README.md begins with npm start, which prints what it shows", async () => {
  expect(start?.commands).toBe("npm start -- --provider local");
  await eventually(() => printsAsShown(walked().weir.output(), asHere(start?.shows ?? "")), {
    what: `what line ${start?.line} shows`,
  });
});

walkDocument(walk, () => ({ shell: walked().shell, asHere }));

/** Continues where the README ends, with the same Weir. */
describe("docs/start.md", () => {
  walkDocument(page("docs/start.md"), () => ({ shell: walked().shell, asHere }));
});

test("Weir ends with Ctrl-C and leaves nothing", async () => {
  await walked().weir.stop();
});
