import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pythonPackages } from "../../scripts/python-packages.ts";
import { commandBlocks } from "./markdown-blocks.ts";
import { say } from "./say.ts";
import { openShell, type ShellSession } from "./shell-session.ts";
import { npmCi, walkDocument } from "./walk-document.ts";
import { asOf, type WalkedWeir } from "./walked-weir.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/reference/clients.md", import.meta.url), "utf8");
const [start, variables] = commandBlocks(page);
const installs = "python3 -m pip install --target packages -r requirements.txt";

/** Flags with which docs/reference/clients.md starts Weir. */
export const clientsFlags = start?.commands.replace("npm start -- ", "").split(" ") ?? [];

/**
 * Defines a suite for one section of docs/reference/clients.md: it runs the section's commands in order against a Weir
 * that was started as the page says. `packages` names the folder of `test/clients` whose Python packages it needs;
 * without them it prints that it is skipped.
 */
export async function walkClients(walked: () => WalkedWeir, heading: string, packages?: string): Promise<void> {
  const python =
    packages === undefined ? undefined : await pythonPackages(`${root}test/clients/${packages}/requirements.txt`, say);

  describe.skipIf(typeof python === "string")(`docs/reference/clients.md, ${heading}`, () => {
    // One for each section, which may change its directory.
    let shell: ShellSession | undefined;
    beforeAll(() => void (shell = openShell({ directory: root })));
    afterAll(() => shell?.close());

    test("begins with npm start", () => {
      expect(start?.commands).toMatch(/^npm start -- /);
    });

    walkDocument([...(variables === undefined ? [] : [variables]), ...section(heading)], () => {
      const { directory, weir } = walked();
      if (shell === undefined) throw new Error("Cannot walk through: there is no shell");
      const asHere = (text: string) =>
        asOf(weir, text)
          .replaceAll("../weir-", `${directory.path}/weir-`)
          .replace("npm ci", npmCi)
          .replace(installs, typeof python === "object" ? `ln -s ${python.directory} packages` : installs);
      return { shell, asHere };
    });
  });
}

/** The command blocks below a heading, with their lines in the page. */
function section(heading: string) {
  const lines = page.split("\n");
  const from = lines.indexOf(`## ${heading}`) + 1;
  if (from === 0) throw new Error(`Cannot find "${heading}" in docs/reference/clients.md: there is no such heading`);
  const next = lines.findIndex((line, index) => index >= from && line.startsWith("## "));
  const to = next === -1 ? lines.length : next;
  return commandBlocks(page).filter(({ line }) => line > from && line <= to);
}
