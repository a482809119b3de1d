import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { natsUsers } from "../../runtime/api/broker/nats-users.ts";
import { makeSigningKey } from "../../runtime/api/iam/signing-keys.ts";
import { readNatsPasswords } from "../../runtime/adapters/nats/server/nats-passwords.ts";
import { imageUser, natsImageName, weirImageName } from "../../runtime/api/version.ts";
import type { ListedFile } from "../../scripts/console/make-console-files.ts";
import { archive } from "../../scripts/images/archive.ts";
import { blobsBelow } from "../../scripts/images/image-archive.ts";
import { loadImages } from "../../scripts/images/load-images.ts";
import { lookInRegistry } from "../../scripts/preflight/registry-look.ts";
import { makeImages, type MadeImages } from "../../scripts/images/make-images.ts";
import { blobFile, type PackedImage } from "../../scripts/images/pack-image.ts";
import { pushImage } from "../../scripts/images/push-image.ts";
import { stageRoot } from "../../scripts/images/stage-root.ts";
import { imageProcesses, stageProgram } from "../../scripts/images/stage-weir.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { inWords } from "../support/figure.ts";
import { freePort } from "../support/free-port.ts";
import { runImage, type ImageContainer } from "../support/image-container.ts";
import { noRegistryServer, openRegistryServer } from "../support/image-registry-server.ts";
import { say } from "../support/say.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));
const consoleDirectory = "opt/weir/runtime/console/dist/";
const inPages = ["@preact/signals", "@tanstack/virtual-core", "preact", "uplot"];

describe.skipIf(process.platform !== "linux")("images", () => {
  let made: MadeImages;
  beforeAll(async () => {
    made = await makeImages({ say });
  });
  afterAll(() => made?.[Symbol.asyncDispose]());

  const image = (name: string): PackedImage => {
    const found = made.images.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no image ${name}`);
    return found;
  };
  const layerFiles = (name: string): string[] =>
    image(name).layers.map((layer) => blobFile(blobsBelow(made.directory), layer));

  test("have the same digests when built again", async () => {
    await using nats = await makeImages({ say, kinds: ["weir-nats"] });
    expect(nats.images).toEqual([image(natsImageName)]);
    // In the other image one process stands for all, as each takes a second or two to compile.
    expect(await hashOfProgram()).toBe(await hashOfProgram());
  });

  test("contain only what runs", async () => {
    const listed = await Promise.all(
      [...layerFiles(weirImageName), ...layerFiles(natsImageName)].map((file) =>
        run("tar", ["-tvzf", file], { maxBuffer: 1e8 }),
      ),
    );
    const lines = listed.flatMap(({ stdout }) => stdout.trim().split("\n"));
    expect(lines.length).toBeGreaterThan(200);
    expect(lines.filter((line) => !/^[-dl]\S+ 0\/0 /.test(line))).toEqual([]);
    // Neither set-id bits nor world-writable files; the mode of a symbolic link means nothing.
    expect(lines.filter((line) => !line.startsWith("l") && !/^[-d][r-]w[x-][r-]-[x-][r-]-[x-] /.test(line))).toEqual(
      [],
    );

    const paths = lines.map((line) => line.split(/\s+/)[5] ?? "");
    expect(paths).toEqual(expect.arrayContaining(imageProcesses().map((name) => `opt/weir/runtime/${name}/main.js`)));
    const own = paths.filter((path) => path.startsWith("opt/weir/") && !path.includes("/node_modules/"));
    expect(
      own.filter(
        (path) =>
          !/^opt\/weir\/($|cache\/|node_modules\/|runtime\/|package\.json|start\.js|sbom\.cdx\.json)/.test(path),
      ),
    ).toEqual([]);
    expect(paths.filter((path) => /\.git(?:\/|$)|\.d\.ts$|\/bin\/(?:sh|bash|npm)$/.test(path))).toEqual([]);
    const { devDependencies } = JSON.parse(await readFile(join(repository, "package.json"), "utf8")) as {
      devDependencies: Record<string, string>;
    };
    const { packages } = JSON.parse(await readFile(join(repository, "package-lock.json"), "utf8")) as {
      packages: Record<string, { dev?: boolean }>;
    };
    // The bundler is a dependency, as "npm start" builds the pages in a clone; the image has them built.
    const forDevelopers = Object.keys(devDependencies)
      .filter((name) => packages[`node_modules/${name}`]?.dev === true)
      .concat("rolldown");
    expect(forDevelopers.length).toBeGreaterThan(5);
    expect(forDevelopers.filter((name) => paths.includes(`opt/weir/node_modules/${name}/package.json`))).toEqual([]);
    // Packages whose code is in the pages of the console: their descriptions and licences.
    expect(paths).toEqual(expect.arrayContaining(inPages.map((name) => `opt/weir/node_modules/${name}/package.json`)));
    expect(paths).toEqual(expect.arrayContaining(inPages.map((name) => `opt/weir/node_modules/${name}/LICENSE`)));
  });

  test("hold every file of the console that its list names, and list the packages in it", async () => {
    const [file = ""] = layerFiles(weirImageName).slice(1);
    const options = { maxBuffer: 1e8 };
    const read = async (path: string): Promise<string> => (await run("tar", ["-xzOf", file, path], options)).stdout;
    const { stdout } = await run("tar", ["-tvzf", file, consoleDirectory], options);
    const held = new Map(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/\s+/))
        .map(([, , size, , , path = ""]) => [path.slice(consoleDirectory.length), Number(size)]),
    );
    const list = JSON.parse(await read(`${consoleDirectory}files.json`)) as readonly ListedFile[];
    const wanted = list.flatMap((each) => [each, ...each.encodings]);
    expect(list.map(({ path }) => path)).toContain("/ui/index.html");
    expect(wanted.map((each) => [each.file, held.get(each.file)])).toEqual(
      wanted.map((each) => [each.file, each.size]),
    );

    const { components } = JSON.parse(await read("opt/weir/sbom.cdx.json")) as {
      readonly components: readonly { readonly name: string }[];
    };
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining([...inPages]));
  });

  test("contain no path of the machine that built them", async () => {
    for (const file of layerFiles(weirImageName).slice(1)) {
      const content = gunzipSync(await readFile(file));
      expect(content.includes("opt/weir/runtime/gateway/main.js")).toBe(true);
      expect(content.includes(repository)).toBe(false);
      expect(content.includes("weir-images-")).toBe(false);
    }
  });

  test.skipIf(noRegistryServer() !== undefined)(
    "are pushed to a registry, without sending existing blobs again",
    async () => {
      await using registry = await openRegistryServer();
      const options = { registry: `${registry.host}/team`, blobs: blobsBelow(made.directory) };
      const { manifest, layers } = image(natsImageName);
      const [, tag] = natsImageName.split(":");
      const reference = `${registry.host}/team/weir-nats:${tag}@${manifest.digest}`;
      expect(await pushImage(image(natsImageName), options)).toBe(reference);

      const stored = await fetch(`http://${registry.host}/v2/team/weir-nats/manifests/${tag}`, {
        headers: { accept: manifest.mediaType },
      });
      expect(stored.headers.get("docker-content-digest")).toBe(manifest.digest);
      const layer = await fetch(`http://${registry.host}/v2/team/weir-nats/blobs/${layers[0]?.digest}`);
      expect((await layer.bytes()).length).toBe(layers[0]?.size);
      expect(await pushImage({ ...image(natsImageName), name: "weir-nats:again" }, options)).toContain(manifest.digest);
    },
  );

  test.skipIf(noRegistryServer() !== undefined)(
    "join the images that another machine has pushed: one name for both architectures",
    async () => {
      await using registry = await openRegistryServer();
      const options = { registry: `${registry.host}/team`, blobs: blobsBelow(made.directory) };
      const [, tag = ""] = natsImageName.split(":");
      const here = image(natsImageName);
      // An image of another machine: only its entry in the index matters, not its content.
      const elsewhere = { ...here, architecture: "s390x" };
      const look = () => lookInRegistry(registry.host, "team/weir-nats", tag);

      await pushImage(here, options);
      await pushImage(elsewhere, { ...options, join: true });
      expect(await look()).toEqual([here.architecture, "s390x"].toSorted());
      const again = await pushImage(here, { ...options, join: true });
      expect(await look()).toEqual([here.architecture, "s390x"].toSorted());
      const stored = await fetch(`http://${registry.host}/v2/team/weir-nats/manifests/${tag}`, {
        headers: { accept: "application/vnd.oci.image.index.v1+json" },
      });
      expect(again).toBe(`${registry.host}/team/weir-nats:${tag}@${stored.headers.get("docker-content-digest")}`);
      expect(await stored.json()).toMatchObject({
        manifests: [{ digest: here.manifest.digest, size: here.manifest.size }, { size: here.manifest.size }],
      });

      await pushImage(here, options);
      expect(await look()).toEqual([here.architecture]);
    },
  );

  describe.skipIf(noDockerEngine() !== undefined)("in unprivileged containers", () => {
    const running: ImageContainer[] = [];
    let engine: TestDockerEngine | undefined;
    let files: TempDirectory | undefined;

    beforeAll(async () => {
      engine = await openDockerEngine();
      await loadImages(made.directory, engine.client);
      files = await tempDirectory("image-files");
    }, 300_000);
    afterAll(async () => {
      for (const container of running) await container.remove().catch(() => {});
      await files?.remove();
      await engine?.close();
    });

    test("the broker and every process start, become ready and end", { timeout: 300_000 }, async () => {
      if (engine === undefined || files === undefined) throw new Error("no engine");
      const port = await freePort();
      const monitor = await freePort();
      const users = natsUsers({ queues: ["default"], oneMachine: true });
      const passwords = await readNatsPasswords(
        join(files.path, "passwords"),
        users.map(({ name }) => name),
      );
      const put = async (path: string, text: string): Promise<string> => {
        const file = join(files?.path ?? "", path);
        await writeFile(file, text);
        // The directory is accessible to its owner only; each file is mounted separately.
        await chmod(file, 0o444);
        return file;
      };
      const config = await put(
        "nats.json",
        JSON.stringify({
          listen: `127.0.0.1:${port}`,
          http: `127.0.0.1:${monitor}`,
          max_payload: 2_097_152,
          jetstream: { store_dir: "/data" },
          authorization: {
            users: users.map(({ name, rights }) => ({
              user: name,
              password: passwords[name],
              permissions: { publish: { allow: rights.publish }, subscribe: { allow: rights.subscribe } },
            })),
          },
        }),
      );
      const broker = await runImage(engine, {
        image: natsImageName,
        args: ["--config", "/etc/nats/nats.json"],
        files: { "/etc/nats/nats.json": config },
        memory: ["/data"],
      });
      running.push(broker);
      const up = [broker];
      await eventually(async () => (await fetch(`http://127.0.0.1:${monitor}/healthz`)).ok, {
        within: 60_000,
        what: `the broker; it said: ${broker.output()}`,
      });

      await mkdir(join(files.path, "credentials"));
      const shared = { nats_url: `nats://127.0.0.1:${port}`, admin_port: "0" };
      const secret = {
        "/var/secrets/basic-auth-user": await put("credentials/basic-auth-user", "admin"),
        "/var/secrets/basic-auth-password": await put("credentials/basic-auth-password", "not-a-secret"),
      };
      const signing = {
        "/var/secrets/callback-key.pem": await put("credentials/callback-key.pem", makeSigningKey("callbacks")),
      };
      const parts = [
        { name: "queue-doctor", user: "doctor", settings: { one_machine: "true" }, mounted: {} },
        { name: "autoscaler", user: "autoscaler", settings: {}, mounted: {} },
        { name: "queue-worker", user: "worker-default", settings: {}, mounted: signing },
        { name: "gateway", user: "gateway", settings: { port: "0", shutdown_delay: "0s" }, mounted: secret },
      ];
      for (const { name, user, settings, mounted } of parts) {
        const password = await put(`nats-${name}`, passwords[user] ?? "");
        const times: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const container = await runImage(engine, {
            image: weirImageName,
            args: [name],
            settings: { ...shared, ...settings, nats_user: user, nats_password_file: "/etc/weir/password" },
            files: { ...mounted, "/etc/weir/password": password },
          });
          running.push(container);
          const { took, line } = await container.until(`${name} is ready`);
          times.push(took);
          expect((await fetch(`http://127.0.0.1:${Number(line["adminPort"])}/readyz`)).status).toBe(200);
          const [first, ...others] = await container.commands();
          expect(first).toMatch(/^\/usr\/bin\/node \/opt\/weir\/start\.js /);
          expect(others).toEqual([]);
          if (round < rounds - 1) expect(await container.stop()).toBe(0);
          else up.push(container);
        }
        const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
        say(
          `Image "${weirImageName}", ${name}: ready ${inWords(median)} after its start (the middle of ${times.length})`,
        );
      }
      for (const container of up.toReversed()) expect(await container.stop(), container.output()).toBe(0);
    });

    test("an unknown process name is refused with the list of processes", async () => {
      if (engine === undefined) throw new Error("no engine");
      const container = await runImage(engine, { image: weirImageName, args: ["nothing"] });
      running.push(container);
      const names = imageProcesses().join(", ");
      await eventually(() => container.output().includes(`Cannot start "nothing": expected one of ${names}`), {
        what: "the sentence",
      });
    });
  });
});

/** Hash of a newly staged program with one process; Node.js is only copied beside it. */
async function hashOfProgram(): Promise<string> {
  await using root = await tempDirectory("image-root");
  const user = { name: "weir", id: imageUser, home: "/", shell: "" };
  await stageRoot(root.path, { title: "Weir", programs: [process.execPath], user, writable: [] });
  await stageProgram(root.path, say, [], ["queue-doctor"]);
  const hash = createHash("sha256");
  await pipeline(archive(root.path, { names: ["opt"] }), hash);
  return hash.digest("hex");
}

/** Starts per process; their times are only reported. */
const rounds = 1;
