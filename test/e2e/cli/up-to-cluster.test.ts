import { readFile, rm, writeFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { openClusterStandIn, type ClusterStandIn, type SentBody } from "../../support/cli-cluster-stand-in.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
import { fakePrograms, type FakePrograms } from "../../support/fake-program.ts";
import { say } from "../../support/say.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** `weir up` where the gateway's functions run elsewhere: build, push, then send; the builder is a stand-in. */
let data: TempDirectory;
let weir: WeirProcess;
let person: CliHome;
let project: TempDirectory;
let builder: FakePrograms;
beforeAll(async () => {
  data = await tempDirectory("cli-cluster");
  person = await openCliHome();
  weir = await startWeir({ data: data.path });
});
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await data?.remove();
});

/** Remembers what it built by its label, as an engine does, and cannot push while there is a file `offline`. */
const docker = `
line="$*"
case "$1" in
  buildx) exit 1;;
  version) echo 28; exit 0;;
  image) cat "$STATE/labels" 2>/dev/null; exit $?;;
esac
echo "$line" >> "$STATE/log"
case "$1" in
  build) echo "$line" | sed -n 's/.*com.service.content=\\([^ ]*\\).*/{"com.service.content":"\\1"}/p' > "$STATE/labels";;
  push) test ! -e "$STATE/offline" || { echo "no route to the registry" >&2; exit 7; };;
esac`;

beforeEach(async () => {
  builder = await fakePrograms({ docker, podman: "exit 1" });
  project = await tempDirectory("cli-cluster-project");
  await writeFile(join(project.path, "Dockerfile"), "FROM scratch\n");
});
afterEach(async () => {
  await project.remove();
  await builder[Symbol.asyncDispose]();
});

/** The process makes the image run on the Weir behind the stand-in, which takes any image. */
async function define(name: string): Promise<void> {
  const yaml = `version: 1\nfunctions:\n  ${name}: { folder: ., envProcess: cat }\n`;
  await writeFile(join(project.path, "weir.yaml"), yaml);
}

const up = (gateway: ClusterStandIn, ...args: readonly string[]): Promise<CommandEnd> =>
  person.run(["up", "--gateway", gateway.url, "--insecure-http", ...args], {
    directory: project.path,
    environment: { ...gatewayEnvironment(weir), PATH: builder.path },
  });

/** What the builder was told so far: `build` or `push`, and the image. */
async function told(): Promise<readonly string[]> {
  const log = await readFile(join(builder.state, "log"), "utf8").catch(() => "");
  const lines = log.split("\n").filter((line) => line !== "");
  return lines.map((line) => `${line.split(" ", 1)[0]} ${/\S+\/\S+:[0-9a-f]{12}/.exec(line)?.[0]}`);
}

describe("a cluster", () => {
  test("gets the image by its registry first, then the function, whose readiness is waited for", async () => {
    const before: string[] = [];
    await using gateway = await openClusterStandIn({
      upstream: weir.url,
      provider: "weir-kubernetes",
      onDeployment: async () => void before.push(...(await told())),
    });
    await define("first");
    const { code, stdout, stderr } = await up(gateway, "--registry", "registry.example/acme", "-o", "json");
    expect(code, stderr).toBe(0);
    const [sent] = gateway.deployments as readonly [SentBody];
    expect(sent.image).toMatch(/^registry\.example\/acme\/first:[0-9a-f]{12}$/);
    expect(before).toEqual([`build ${sent.image}`, `push ${sent.image}`]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "first", image: sent.image, availableReplicas: 1 }]);
    expect(stderr).toMatch(/^first: ready$/m);

    const again = await up(gateway, "--registry", "registry.example/acme");
    expect(again).toMatchObject({ code: 0, stderr: "first: no change\n" });
    expect(await told()).toEqual(before);
    expect(gateway.deployments).toHaveLength(1);
  });

  test("gets nothing while the push fails; the next attempt pushes what was built", async () => {
    await using gateway = await openClusterStandIn({ upstream: weir.url, provider: "weir-kubernetes" });
    await define("pushed");
    await writeFile(join(builder.state, "offline"), "");
    const failed = await up(gateway, "--registry", "registry.example/acme");
    expect([failed.code, failed.stdout]).toEqual([1, ""]);
    expect(failed.stderr).toMatch(/^pushed: no route to the registry$/m);
    expect(failed.stderr).toMatch(
      /^Cannot push "registry\.example\/acme\/pushed:[0-9a-f]{12}": docker push ended with 7$/m,
    );
    expect(gateway.deployments).toEqual([]);

    await rm(join(builder.state, "offline"));
    const { code, stderr } = await up(gateway, "--registry", "registry.example/acme");
    expect(code, stderr).toBe(0);
    const [sent] = gateway.deployments as readonly [SentBody];
    expect(await told()).toEqual([`build ${sent.image}`, `push ${sent.image}`, `push ${sent.image}`]);
  });
});

const [otherAddress] = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ family, internal }) => family === "IPv4" && !internal)
  .map(({ address }) => address);
if (otherAddress === undefined) say("Skipped: weir up to another machine; this one has no address but loopback");

test.skipIf(otherAddress === undefined)("another machine's engine pulls, too: not without a registry", async () => {
  await using gateway = await openClusterStandIn({
    upstream: weir.url,
    provider: "weir-docker",
    host: otherAddress ?? "",
  });
  await define("elsewhere");
  expect(await up(gateway)).toEqual({
    code: 2,
    stdout: "",
    stderr: 'Cannot deploy "elsewhere" to another machine: no registry is set; set build.registry or --registry\n',
  });
  expect(await told()).toEqual([]);
  const { code, stderr } = await up(gateway, "--registry", "registry.example/acme");
  expect(code, stderr).toBe(0);
  const [sent] = gateway.deployments as readonly [SentBody];
  expect(await told()).toEqual([`build ${sent.image}`, `push ${sent.image}`]);
});
