import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { commandBlocks } from "./markdown-blocks.ts";
import { openShell, type ShellSession } from "./shell-session.ts";
import { tempDirectory, type TempDirectory } from "./temp-directory.ts";
import { npmCi, walkDocument } from "./walk-document.ts";
import { startWeir, type WeirProcess } from "./weir-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = join(root, "test/clients/grpc/go");
const page = readFileSync(new URL("../../docs/reference/http2-and-grpc.md", import.meta.url), "utf8");
const [certificate, start, ...blocks] = commandBlocks(page);
/** Timeout of the first build, which downloads its dependencies, milliseconds. */
const timeout = 600_000;

/** Defines a suite for docs/reference/http2-and-grpc.md: its commands run in one shell, those for Go if `withGo`. */
export function walkGrpc({ withGo }: { readonly withGo: boolean }): void {
  const opened: { directory?: TempDirectory; weir?: WeirProcess; shell?: ShellSession } = {};
  const walk = blocks.filter(({ commands }) => withGo || !commands.startsWith("cd go"));

  describe("docs/reference/http2-and-grpc.md", () => {
    beforeAll(async () => {
      if (withGo) await promisify(execFile)("go", ["build", "-o", "/dev/null", "."], { cwd: program, timeout });
      const directory = await tempDirectory("grpc");
      opened.directory = directory;
      // The function's user must be able to read its files here.
      await chmod(directory.path, 0o755);
      // As in a clone: the page puts the Node.js of Weir on the path.
      await symlink(join(root, "node_modules"), join(directory.path, "node_modules"));
      opened.shell = openShell({ directory: directory.path });
      const made = await opened.shell.run(certificate?.commands ?? "");
      expect(made.code, made.stderr).toBe(0);
      const flags = (start?.commands ?? "").replace("npm start -- ", "").split(" ");
      opened.weir = await startWeir({
        data: join(directory.path, "data"),
        flags: flags.map((flag) => (flag.endsWith(".pem") ? join(directory.path, flag) : flag)),
        within: 60_000,
      });
    }, timeout + 90_000);

    afterAll(async () => {
      await opened.shell?.close();
      await opened.weir?.close();
      await opened.directory?.remove();
    });

    test("begins with a certificate and npm start", () => {
      expect(certificate?.commands).toMatch(/^openssl req /);
      expect(start?.commands).toMatch(/^npm start -- .*--tls-cert cert\.pem --tls-key key\.pem$/);
    });

    walkDocument(walk, () => {
      const { directory, shell, weir } = opened;
      if (directory === undefined || shell === undefined || weir === undefined)
        throw new Error("Cannot walk through: Weir did not start");
      const asHere = (text: string) =>
        text
          .replaceAll("/tmp/weir-", `${directory.path}/weir-`)
          .replaceAll("localhost:8080", new URL(weir.url).host.replace("127.0.0.1", "localhost"))
          .replaceAll(".weir/", `${weir.data}/`)
          .replace("test/clients", join(root, "test/clients"))
          .replace("npm ci", `${npmCi} --ignore-scripts`);
      return { shell, asHere };
    });

    test("ends with Ctrl-C, and nothing is left", async () => {
      await opened.weir?.stop();
    }, 60_000);
  });
}
