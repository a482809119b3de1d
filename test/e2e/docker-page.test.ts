import { readFileSync } from "node:fs";

import { afterAll, describe, expect, test } from "vitest";

import { noDockerEngine } from "../support/docker-engine.ts";
import { commandBlocks } from "../support/markdown-blocks.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { walkDocument } from "../support/walk-document.ts";
import { asOf, walkedWeir } from "../support/walked-weir.ts";

const page = readFileSync(new URL("../../docs/reference/docker-provider.md", import.meta.url), "utf8");
const [packages, start, ...blocks] = commandBlocks(page);

describe.skipIf(noDockerEngine() !== undefined)("docs/reference/docker-provider.md", () => {
  let engine: TestDockerEngine | undefined;
  afterAll(() => engine?.close(), 90_000);
  const walked = walkedWeir(
    "docker-page",
    async () => {
      engine = await openDockerEngine();
      return { flags: ["--provider", "docker", "--docker-socket", engine.socket] };
    },
    300_000,
  );

  test("begins with the packages of Debian, and npm start", () => {
    expect(packages?.commands).toMatch(/^apt-get install /);
    expect(start?.commands).toBe("npm start -- --provider docker");
  });

  walkDocument(blocks, () => {
    const { directory, shell, weir } = walked();
    const socket = engine?.socket ?? "";
    const asHere = (text: string) =>
      asOf(weir, text.replaceAll("../weir-", `${directory.path}/weir-`))
        .replace("npm run base-image", `npm run base-image -- --docker-socket ${socket}`)
        .replaceAll(/^docker /gm, `docker --host unix://${socket} `);
    return { shell, asHere };
  });
});
