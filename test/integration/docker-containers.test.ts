import { lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { DockerProvider } from "../../runtime/adapters/machine/docker/open-docker-provider.ts";
import type { ContainerDocument } from "../../runtime/adapters/machine/docker/engine/engine-types.ts";
import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { Replica, ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { echoSpec } from "../contract/replicas.contract.ts";
import { noDockerEngine } from "../support/docker-engine.ts";
import { openDockerEngine, type TestDockerEngine } from "../support/shared-docker-engine.ts";
import { dockerProvider, echoImage, runReplica, tagEcho } from "../support/docker-provider.ts";
import { eventually } from "../support/eventually.ts";
import { openImageRegistry } from "../support/image-registry.ts";
import { openOutside } from "../support/outside-host.ts";
import { addedSince, networkState, type NetworkState } from "../support/packet-filter.ts";
import { portListener } from "../support/port-listener.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const shell = (script: string): string => `sh -c '${script}'`;
const ref = (name: string, namespace = "functions"): FunctionRef => ({ namespace, name });

let engine: TestDockerEngine;
let directory: TempDirectory;
let provider: DockerProvider;
let before: NetworkState;

const containers = async (): Promise<readonly { Id: string; Names: readonly string[] }[]> =>
  (await engine.client.call<{ Id: string; Names: string[] }[]>("GET", "/containers/json", { query: { all: "1" } }))
    .body ?? [];
const networks = async (): Promise<string[]> =>
  ((await engine.client.call<{ Name: string }[]>("GET", "/networks")).body ?? [])
    .map(({ Name: name }) => name)
    .filter((name) => name.startsWith("weir-"));

async function inspect(id: string): Promise<ContainerDocument & { HostConfig: Record<string, unknown> }> {
  const found = (await containers()).find(({ Names: names }) => names.some((name) => name.endsWith(id)));
  const { body } = await engine.client.call<ContainerDocument & { HostConfig: Record<string, unknown> }>(
    "GET",
    `/containers/${found?.Id}/json`,
  );
  if (body === undefined) throw new Error(`no container of ${id}`);
  return body;
}

async function ended(id: string, of: DockerProvider = provider): Promise<Replica["failure"]> {
  const replica = await eventually(
    async () => (await of.replicas.list()).find((each) => each.id === id && each.state === "exited"),
    { what: "the end" },
  );
  return replica.failure;
}

async function textsOf(of: FunctionRef, { logs }: DockerProvider = provider): Promise<string[]> {
  const records: LogRecord[] = [];
  const query = { ...of, instance: undefined, tail: undefined, since: undefined, follow: false };
  for await (const record of logs.read(query, new AbortController().signal)) records.push(record);
  return records.map(({ text }) => text);
}

const run = (name: string, process: string, over: Partial<ReplicaSpec> = {}) =>
  runReplica(provider, { ...ref(name), ...over, environment: { fprocess: process, ...over.environment } });
const callReplica = async ({ url }: { url: string }, body = ""): Promise<string> =>
  (await fetch(url, { method: "POST", body })).text();

describe.skipIf(noDockerEngine() !== undefined)("containers of the docker provider", () => {
  beforeAll(async () => {
    engine = await openDockerEngine();
    await tagEcho(engine);
    before = await networkState();
    directory = await tempDirectory("docker-data");
    provider = await dockerProvider(engine, directory.path);
  }, 300_000);
  afterAll(async () => {
    await provider?.close();
    await directory?.remove();
    await engine?.close();
  });

  test("a container runs as its own user, with no rights and within its limits", async () => {
    const status = shell(
      `id -u; id -g; grep -E "Cap|NoNewPrivs|Seccomp:" /proc/self/status; cat /proc/net/if_inet6; nproc`,
    );
    const limits = { memory: "256Mi", cpu: "500m" };
    const replica = await run("limited", status, { limits, requests: { memory: "64Mi", cpu: "250m" } });
    const [uid, gid, ...lines] = (await callReplica(replica)).trim().split("\n");

    expect([uid, gid]).toEqual(["12000", "12000"]);
    const rights = lines.filter((text) => text.startsWith("Cap"));
    expect(rights).toEqual(["Inh", "Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}:\t0000000000000000`));
    expect(lines).toEqual(expect.arrayContaining(["NoNewPrivs:\t1", "Seccomp:\t2"]));
    const { HostConfig: host, Image: image } = await inspect(replica.id);
    expect(image).toMatch(/^sha256:/);
    expect(host).toMatchObject({
      Memory: 268_435_456,
      MemorySwap: 268_435_456,
      MemoryReservation: 67_108_864,
      NanoCpus: 500_000_000,
      CpuShares: 256,
      PidsLimit: 256,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Privileged: false,
      Binds: null,
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "2" } },
      PidMode: "",
      IpcMode: "private",
      UTSMode: "",
    });
    await provider.replicas.stop(replica.id);
  });

  test("the root file system is read-only where the deployment asks for it, /tmp never", async () => {
    const write = shell(
      `touch /home/app/x 2>/dev/null && echo home; echo "echo ran" >/tmp/x && sh /tmp/x; ls -ld /tmp | cut -c1-10`,
    );
    const closed = await run("closed", write, { readOnlyRootFilesystem: true });
    const open = await run("open", write);

    expect(await callReplica(closed)).toBe("ran\ndrwxrwxrwt\n");
    expect(await callReplica(open)).toBe("home\nran\ndrwxrwxrwt\n");
    await Promise.all([provider.replicas.stop(closed.id), provider.replicas.stop(open.id)]);
  });

  test("more memory than the limit is OOMKilled; an exit has its code and last output", async () => {
    const eat = `node -e 'const all = []; setInterval(() => all.push(Buffer.alloc(2e7, 1)), 1)'`;
    const greedy = await provider.replicas.start({
      ...echoSpec(ref("greedy")),
      limits: { memory: "96Mi" },
      environment: { mode: "http", fprocess: eat },
    });
    const unlucky = await provider.replicas.start({
      ...echoSpec(ref("unlucky")),
      environment: { mode: "http", fprocess: shell("echo out of luck >&2; exit 3") },
    });
    const nothing = await provider.replicas.start({ ...echoSpec(ref("nothing")), environment: {} });

    expect(await ended(unlucky.id)).toEqual({
      reason: "Error",
      message: "The process ended with code 3; it said last: out of luck",
    });
    expect((await ended(nothing.id))?.reason).toBe("CannotRun");
    await provider.replicas.stop(unlucky.id);
    expect(await textsOf(ref("unlucky"))).toEqual(["out of luck\n", "watchdog: The process ended with code 3\n"]);
    const failure = await ended(greedy.id);
    expect(failure?.reason).toBe("OOMKilled");
    expect(failure?.message).toContain("more memory than its limit of 96 MiB");
    for (const { id } of [greedy, nothing]) await provider.replicas.stop(id);
  });

  test("logs of ended containers survive a restart, until the function is removed", async () => {
    const data = join(directory.path, "restarted");
    await mkdir(data);
    const talker = ref("talker");
    const start = async ({ replicas }: DockerProvider, script: string): Promise<string> =>
      (await replicas.start({ ...echoSpec(talker), environment: { mode: "http", fprocess: shell(script) } })).id;
    const first = await dockerProvider(engine, data);
    try {
      const crashed = await start(first, "echo out of luck; exit 3");
      await ended(crashed, first);
      await first.replicas.stop(crashed);
      await start(first, "echo awake; exec sleep 1000");
      await eventually(async () => (await textsOf(talker, first)).includes("awake\n"), { what: "its first line" });
    } finally {
      await first.close();
    }
    const next = await dockerProvider(engine, data);
    try {
      const texts = await textsOf(talker, next);
      expect(texts.filter((text) => !text.startsWith("watchdog: "))).toEqual(["out of luck\n", "awake\n"]);
      expect(await next.replicas.orphans()).toEqual([talker]);
      await next.replicas.forget(talker);
      expect(await textsOf(talker, next)).toEqual([]);
      expect(await next.replicas.orphans()).toEqual([]);
    } finally {
      await next.close();
    }
  });

  test("an image that cannot be pulled is a failure with the engine's message", async () => {
    const start = async (image: string) => {
      const { id } = await provider.replicas.start({ ...echoSpec(ref("imageless")), image });
      const failure = await ended(id);
      await provider.replicas.stop(id);
      return failure;
    };

    const first = await start("127.0.0.1:1/none:1");
    expect(first?.reason).toBe("ErrImagePull");
    expect(first?.message).toMatch(/^Cannot pull image "127\.0\.0\.1:1\/none:1": .*connection refused/);
    expect((await start("127.0.0.1:1/none:1"))?.reason).toBe("ImagePullBackOff");
    expect((await start("a/../../info"))?.reason).toBe("InvalidImageName");
    expect((await start("a?b=c"))?.reason).toBe("InvalidImageName");
  });

  test("a missing image is pulled with its progress; a command that it lacks has the engine's message", async () => {
    await using registry = await openImageRegistry({ layer: 3_000_000, pieces: 12, pause: 200 });
    const image = `${registry.host}/acme/slow`;
    const { id } = await provider.replicas.start({ ...echoSpec(ref("pulled")), image });
    await eventually(
      async () => {
        const replica = (await provider.replicas.list()).find((each) => each.id === id);
        return replica?.state === "starting" && /: \d of 1 layers, \d+ of 3 MB$/.test(replica.failure?.message ?? "");
      },
      { what: "progress of the pull" },
    );

    expect((await ended(id))?.message).toContain("exec /nothing failed: No such file or directory");
    await provider.replicas.stop(id);
    // A pull that takes an hour.
    await using endless = await openImageRegistry({ layer: 3_000_000, pieces: 12, pause: 300_000 });
    const stopped = await provider.replicas.start({ ...echoSpec(ref("pulled")), image: `${endless.host}/acme/other` });
    await provider.replicas.stop(stopped.id);
  });

  test("secrets are at both paths, read-only; an update is immediate and atomic, also during reads", async () => {
    const value = (letter: string): string => letter.repeat(200_000);
    const key = { namespace: "functions", name: "key" };
    await provider.secrets.create(key, bytes(value("a")));
    await provider.secrets.create({ ...key, name: "other" }, bytes("not named"));
    const reader = `const { readFileSync } = require("node:fs");
      const seen = new Set();
      const read = () => { const text = readFileSync(process.env.SERVICE_SECRETS_DIR + "/key", "latin1"); seen.add(text.length + " " + [...new Set(text)].join("")); return text[0]; };
      setInterval(() => { for (let n = 0; n < 20; n += 1) read(); }, 1);
      require("node:http").createServer((request, response) => response.end(request.url === "/seen" ? JSON.stringify([...seen]) : read())).listen(process.env.PORT);`;
    const replica = await run("reader", `node -e '${reader}'`, {
      secrets: ["key"],
      environment: { mode: "http", SERVICE_SECRETS_DIR: provider.secretsDirectory(ref("reader")) },
    });
    for (const letter of ["b", "c", "d", "e"]) {
      await provider.secrets.replace(key, bytes(value(letter)));
      expect(await callReplica(replica)).toBe(letter);
    }
    const seen = (await (await fetch(`${replica.url}/seen`)).json()) as string[];
    expect(seen.filter((each) => !/^200000 [abcde]$/.test(each))).toEqual([]);

    const look = await run(
      "looker",
      shell(
        `cd /var/openfaas/secrets; ls -A; ls -ld key | cut -c1-10; head -c 3 key; echo; touch x; rm -f key; echo $?`,
      ),
      { secrets: ["key"] },
    );
    expect(await callReplica(look)).toBe("key\n-r--------\neee\n1\n");
    for (const { id } of [replica, look]) expect(JSON.stringify(await inspect(id))).not.toMatch(/([a-e])\1{9}/);
    await expect(provider.replicas.start({ ...echoSpec(ref("looker")), secrets: ["gone"] })).rejects.toMatchObject({
      code: "secret_not_found",
    });
    await Promise.all([replica, look].map(({ id }) => provider.replicas.stop(id)));
    await provider.replicas.forget(ref("reader"));
    await provider.replicas.forget(ref("looker"));
    const left = await readdir(join(directory.path, "docker", "secrets"));
    expect(left.filter((name) => /^(?:reader|looker)/.test(name))).toEqual([]);
  });

  test("a container can reach only the gateway and the outside", async () => {
    const probe = `require("node:http").createServer((request, response) => {
      const url = new URL(request.url, "http://x");
      const socket = require("node:net").connect({ host: url.searchParams.get("host"), port: Number(url.searchParams.get("port")), timeout: 3000 });
      const say = (text) => { socket.destroy(); response.end(text); };
      socket.on("connect", () => say("connected")).on("error", (err) => say(err.code)).on("timeout", () => say("timeout"));
    }).listen(process.env.PORT);`;
    const replica = await run("prober", `node -e '${probe}'`, { environment: { mode: "http" } });
    const neighbour = await run("neighbour", "cat");
    const elsewhere = await run("elsewhere", "cat", { namespace: "dev" });
    const reach = async (host: string, port: number | string): Promise<string> =>
      (await fetch(`${replica.url}/?host=${encodeURIComponent(host)}&port=${port}`)).text();
    const [bridge = "", otherBridge = ""] = provider.bridgeAddresses();
    await using outside = await openOutside();
    await using broker = await portListener("0.0.0.0", 0);
    await using gateway = await portListener(bridge, 8080);

    for (const host of [
      "gateway.weir",
      "gateway.weir.",
      "gateway.weir.svc.cluster.local",
      "gateway.weir.svc.cluster.local.",
    ])
      expect(await reach(host, gateway.port)).toBe("connected");
    expect(await reach(outside.address, outside.port)).toBe("connected");
    // It sees the address of this host's side, not the container's.
    await eventually(() => outside.peers().length > 0, { what: "the connection" });
    expect(outside.peers()).toEqual([outside.hostAddress]);
    for (const [host, port] of [
      [bridge, broker.port],
      [otherBridge, broker.port],
      [outside.hostAddress, broker.port],
      ["169.254.169.254", 80],
      ["100.100.100.200", 80],
      ["168.63.129.16", 80],
      [elsewhere.address?.split(":")[0] ?? "", 8080],
      [neighbour.address?.split(":")[0] ?? "", 8080],
    ] as const)
      expect([host, port, await reach(host, port)]).toEqual([host, port, "ECONNREFUSED"]);
    // The engine's own rule, which holds also where Weir may not add any.
    const [name = ""] = await networks();
    const made = await engine.client.call<{ Options: Record<string, string> }>("GET", `/networks/${name}`);
    expect(made.body?.Options["com.docker.network.bridge.enable_icc"]).toBe("false");
    // From this host they can be reached.
    expect((await fetch(`${elsewhere.url}/_/ready`)).status).toBe(200);

    await Promise.all([replica, neighbour, elsewhere].map(({ id }) => provider.replicas.stop(id)));
    await provider.replicas.forget(ref("elsewhere", "dev"));
    expect(await networks()).toHaveLength(1);
    expect(provider.bridgeAddresses()).toEqual([bridge]);
  });

  test("long lines are truncated, both outputs are read, and a followed log ends with its function", async () => {
    const write = shell(`head -c 70000 /dev/zero | tr "\\0" x >&2; echo >&2; echo short >&2`);
    const replica = await run("writer", write);
    const texts: string[] = [];
    const query = { ...ref("writer"), instance: undefined, tail: undefined, since: undefined, follow: true };
    const following = (async () => {
      for await (const { text } of provider.logs.read(query, new AbortController().signal)) texts.push(text);
    })();
    await callReplica(replica);
    await eventually(() => texts.length === 2, { what: "two lines" });
    const read = await textsOf(ref("writer"));
    expect(texts).toEqual([`${"x".repeat(65_536)} [cut]\n`, "short\n"]);
    expect(read).toEqual(texts);
    await provider.replicas.stop(replica.id);
    expect((await textsOf(ref("writer"))).at(-1)).toBe("short\n");
    await provider.replicas.forget(ref("writer"));
    await following;

    expect(await textsOf(ref("writer"))).toEqual([]);
  });

  test("stop() waits for calls in flight, and ends what takes longer than the grace", async () => {
    const quick = await run("quick", shell("echo begun >&2; sleep 1; echo done"));
    const reply = callReplica(quick);
    const slow = await run("slow", shell("echo begun >&2; sleep 100"), { grace: 0 });
    const cut = callReplica(slow).then(
      () => "responded",
      () => "cut",
    );
    for (const name of ["quick", "slow"])
      await eventually(async () => (await textsOf(ref(name))).length > 0, {
        what: "calls to run",
        every: 5,
      });
    await Promise.all([provider.replicas.stop(quick.id), provider.replicas.stop(slow.id)]);

    expect(await reply).toBe("done\n");
    expect(await cut).toBe("cut");
  });

  test("close() leaves no container, network, rule or directory", async () => {
    await run("last", "cat");
    await provider.replicas.start({ ...echoSpec(ref("last")), image: echoImage });
    await provider.close();

    expect(await containers()).toEqual([]);
    expect(await networks()).toEqual([]);
    expect(await addedSince(before)).toEqual([]);
    await expect(lstat(join(directory.path, "docker", "secrets"))).rejects.toThrow("ENOENT");
  });
});
