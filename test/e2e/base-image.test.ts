import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";

import { baseImageName, pythonBaseImageName } from "../../runtime/api/version.ts";
import { environment } from "../../runtime/process/settings.ts";
import { installedTool } from "../../scripts/debian-tool.ts";
import { lookInRegistry } from "../../scripts/preflight/registry-look.ts";
import { noRegistryServer, openRegistryServer } from "../support/image-registry-server.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const run = promisify(execFile);
const main = join(import.meta.dirname, "..", "..", "scripts", "base-image", "main.ts");
const architecture = process.arch === "x64" ? "amd64" : process.arch;

/** Standard error of the command on a machine without a container engine. */
async function baseImage(...args: readonly string[]): Promise<string> {
  const env = { ...environment(), DOCKER_HOST: "tcp://127.0.0.1:9" };
  return (await run(process.execPath, [main, ...args], { env })).stderr;
}

describe.skipIf(process.platform !== "linux")("npm run base-image without a container engine", () => {
  test.each([
    ["the image", [], baseImageName],
    ["the one with Python", ["--variant", "python"], pythonBaseImageName],
  ])("saves %s as an archive that engines and clusters load", { timeout: 120_000 }, async (_what, flags, image) => {
    installedTool("python3", "python3", (line) => process.stderr.write(`${line}\n`));
    await using directory = await tempDirectory("base-image");
    const file = join(directory.path, "base.tar");
    const said = await baseImage(...flags, "--tar", file);
    expect(said).toContain(`Made "${image}": `);
    expect(said).toMatch(/": \d+\.\d MB, sha256:\w+\nSaved in /);
    await run("tar", ["-xf", file, "-C", directory.path]);
    const index = JSON.parse(await readFile(join(directory.path, "index.json"), "utf8")) as {
      manifests: readonly { annotations: Readonly<Record<string, string>> }[];
    };
    expect(index.manifests.map(({ annotations }) => annotations["io.containerd.image.name"])).toEqual([
      `docker.io/library/${image}`,
    ]);
  });

  test.skipIf(noRegistryServer() !== undefined)("pushes it, compressed", { timeout: 120_000 }, async () => {
    await using registry = await openRegistryServer();
    expect(await baseImage("--push", `${registry.host}/team`)).toContain(
      `Pushed ${registry.host}/team/${baseImageName}@`,
    );
    const [name = "", tag = ""] = baseImageName.split(":");
    expect(await lookInRegistry(registry.host, `team/${name}`, tag)).toEqual([architecture]);
    const manifest = await fetch(`http://${registry.host}/v2/team/${name}/manifests/${tag}`, {
      headers: { accept: "application/vnd.oci.image.manifest.v1+json" },
    });
    const { layers } = (await manifest.json()) as { layers: readonly { mediaType: string }[] };
    expect(layers.map(({ mediaType }) => mediaType)).toEqual(["application/vnd.oci.image.layer.v1.tar+gzip"]);
  });

  test("refuses a variant that there is not", async () => {
    await expect(baseImage("--variant", "ruby")).rejects.toThrow(
      /'ruby' is invalid\. Allowed choices are node, python\./,
    );
  });

  test("without --push and --tar it fails, as there is no engine", async () => {
    await expect(baseImage()).rejects.toThrow(/127\.0\.0\.1:9/);
  });
});
