import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { FunctionStatus } from "../../../runtime/api/schemas/function-status.ts";
import { environment } from "../../../runtime/process/settings.ts";
import { findTool } from "../../../scripts/debian-tool.ts";
import { openClusterStandIn } from "../../support/cli-cluster-stand-in.ts";
import { gatewayEnvironment, openCliHome, type CliHome, type CommandEnd } from "../../support/cli-home.ts";
import { noDockerEngine } from "../../support/docker-engine.ts";
import { openDockerWeir, type DockerWeir } from "../../support/docker-weir.ts";
import { noRegistryServer, openRegistryServer } from "../../support/image-registry-server.ts";
import type { TestDockerEngine } from "../../support/shared-docker-engine.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import type { WeirProcess } from "../../support/weir-process.ts";

const cannot = noDockerEngine() !== undefined || findTool("docker") === undefined || noRegistryServer() !== undefined;

/** Images by docker's own command line, its engine and a registry; each test continues where the previous one ended. */
describe.skipIf(cannot)("with a container engine", () => {
  let opened: DockerWeir;
  let engine: TestDockerEngine;
  let project: TempDirectory;
  let person: CliHome;
  let weir: WeirProcess;

  beforeAll(async () => {
    opened = await openDockerWeir("cli-build");
    ({ engine, weir } = opened);
    project = await tempDirectory("cli-image");
    person = await openCliHome();
    await write("Dockerfile", `FROM ${engine.image}\nARG WHO=you\nENV WHO=\${WHO}\nCOPY greeting /greeting\n`);
    await write(".dockerignore", "*.log\n");
    await write("greeting", "hello");
    await write("weir.yaml", yaml("you"));
  });
  afterAll(async () => {
    await person?.[Symbol.asyncDispose]();
    await project?.remove();
    await opened?.[Symbol.asyncDispose]();
  });

  const yaml = (who: string): string =>
    `version: 1\nfunctions:\n  greet:\n    folder: .\n    build: { args: { WHO: ${who} } }\n    envProcess: sh -c 'echo $(cat /greeting) $WHO'\n`;
  const write = (name: string, text: string): Promise<void> => writeFile(join(project.path, name), text);
  const run = (...args: readonly string[]): Promise<CommandEnd> =>
    person.run(args, {
      directory: project.path,
      environment: { ...gatewayEnvironment(weir), DOCKER_HOST: `unix://${engine.socket}` },
    });
  const up = async (): Promise<FunctionStatus> => {
    const { code, stdout, stderr } = await run("up", "-o", "json", "--timeout", "5m");
    expect(code, stderr).toBe(0);
    return (JSON.parse(stdout) as readonly FunctionStatus[])[0] as FunctionStatus;
  };
  const reply = async (): Promise<string> => (await fetch(`${weir.url}/function/greet`, { method: "POST" })).text();
  let first: FunctionStatus;

  test("up builds the image in the provider's own engine, and pushes it nowhere", async () => {
    first = await up();
    expect(first.image).toMatch(/^local\/greet:[0-9a-f]{12}$/);
    expect(await reply()).toBe("hello you\n");
  });

  test("without a change nothing is built or sent, also if what is left out changes", async () => {
    await write("debug.log", "left out");
    const { code, stdout, stderr } = await run("up", "-o", "json");
    expect([code, stderr]).toEqual([0, "greet: no change\n"]);
    expect(JSON.parse(stdout)).toMatchObject([{ image: first.image, generation: first.generation }]);
  });

  test("another file or argument is another image", async () => {
    await write("greeting", "goodbye");
    const second = await up();
    expect(second.image).not.toBe(first.image);
    expect(await reply()).toBe("goodbye you\n");
    await write("weir.yaml", yaml("all"));
    expect([first.image, second.image]).not.toContain((await up()).image);
    expect(await reply()).toBe("goodbye all\n");
  });

  test("going back builds nothing", async () => {
    await write("greeting", "hello");
    await write("weir.yaml", yaml("you"));
    const { stdout } = await run("build", "-o", "json");
    expect(JSON.parse(stdout)).toEqual([{ name: "greet", image: first.image, built: false, pushed: false }]);
    expect((await up()).image).toBe(first.image);
    expect(await reply()).toBe("hello you\n");
  });

  test("build --push brings the image to the registry", async () => {
    await using registry = await openRegistryServer();
    const args = ["build", "--push", "--registry", `${registry.host}/acme`];
    const { code, stdout, stderr } = await run(...args, "-o", "name");
    expect(code, stderr).toBe(0);
    const [, tag = ""] = /^127\.0\.0\.1:\d+\/acme\/greet:([0-9a-f]{12})\n$/.exec(stdout) ?? [];
    const tags = await fetch(`http://${registry.host}/v2/acme/greet/tags/list`);
    expect(await tags.json()).toEqual({ name: "acme/greet", tags: [tag] });
  });

  test("up to a cluster pushes the image before it deploys, and the provider pulls that", async () => {
    await using registry = await openRegistryServer();
    const docker = (...args: readonly string[]) =>
      promisify(execFile)("docker", args, { env: { ...environment(), DOCKER_HOST: `unix://${engine.socket}` } });
    const there: string[] = [];
    await using gateway = await openClusterStandIn({
      upstream: weir.url,
      provider: "weir-kubernetes",
      onDeployment: async ({ image }) => {
        const tags = await fetch(`http://${registry.host}/v2/acme/greet/tags/list`);
        there.push(...((await tags.json()) as { readonly tags: readonly string[] }).tags);
        // A cluster has other engines than the builder.
        await docker("rmi", image);
      },
    });
    const args = ["up", "--gateway", gateway.url, "--registry", `${registry.host}/acme`, "--timeout", "5m"];
    const { code, stdout, stderr } = await run(...args, "-o", "json");
    expect(code, stderr).toBe(0);
    const [, tag = ""] = first.image.split(":");
    const image = `${registry.host}/acme/greet:${tag}`;
    expect(there).toEqual([tag]);
    expect(gateway.deployments).toMatchObject([{ service: "greet", image }]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "greet", image, availableReplicas: 1 }]);
    expect(await reply()).toBe("hello you\n");
    // The registry ends with this test.
    expect((await up()).image).toBe(first.image);
  });

  test("a step that fails is exit code 1, with what the builder said; what runs goes on", async () => {
    await write("Dockerfile", `FROM ${engine.image}\nCOPY no-such-file /\n`);
    const { code, stdout, stderr } = await run("up");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^greet: .*no-such-file/m);
    expect(stderr).toMatch(/^Cannot build "greet": docker (?:buildx|build) ended with [1-9]\d*\n$/m);
    expect(await reply()).toBe("hello you\n");
  });
});
