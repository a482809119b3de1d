import { openDockerProvider, type DockerProvider } from "../../runtime/adapters/machine/docker/open-docker-provider.ts";
import { HttpProber } from "../../runtime/adapters/http/probe/http-prober.ts";
import type { Replica, ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { createLog } from "../../runtime/process/log.ts";
import { probePlans } from "../../runtime/provider/probe-plan.ts";
import { ReplicaProbe } from "../../runtime/provider/replica-probe.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import type { BenchEngine } from "./container-engine.ts";
import { connected, type Pieces } from "./container-pieces.ts";
import { timeRequests } from "./container-requests.ts";

/** A way to start a container. */
export interface Starter {
  readonly name: string;
  /** Starts one, waits until it is ready, and removes it; the removal is not timed. */
  start(): Promise<Pieces>;
  close(): Promise<void>;
}

/** Starts replicas as the provider does: through the adapter, until its probe finds them ready. */
export async function openByWeir(engine: BenchEngine): Promise<Starter> {
  const data = await tempDirectory("bench");
  const provider = await openDockerProvider({
    socket: engine.socket,
    data: data.path,
    secrets: `${data.path}/secrets`,
    platformNamespace: "weir",
    gatewayPort: 8080,
    defaultLimits: { memory: "512Mi", cpu: "1" },
    log: createLog("bench", "error"),
  }).catch(async (err: unknown) => {
    await data.remove();
    throw err;
  });
  const spec: ReplicaSpec = {
    name: "bench",
    namespace: "functions",
    generation: 1,
    image: engine.image,
    envProcess: "cat",
    environment: { fprocess: "cat" },
    secrets: [],
    limits: {},
    requests: {},
    readOnlyRootFilesystem: false,
    grace: 1_000,
  };
  return {
    name: "Weir",
    start: () => startOne(provider, spec),
    close: async () => {
      await provider.close();
      await data.remove();
    },
  };
}

async function startOne({ replicas }: DockerProvider, spec: ReplicaSpec): Promise<Pieces> {
  const requests = timeRequests();
  const began = performance.now();
  const { id } = await replicas.start(spec);
  try {
    const address = await addressOf(replicas, id);
    const known = performance.now();
    const [listens, ready] = await Promise.all([connected(address), probed(address)]);
    const made = requests.end();
    const create = made.find(({ path }) => path.includes("/containers/create"));
    const start = made.find(({ path }) => path.endsWith("/start"));
    if (create === undefined || start === undefined) throw new Error("Cannot see the requests to the engine");
    return {
      before: create.from - began,
      create: create.to - create.from,
      start: start.to - start.from,
      address: known - start.to,
      connect: listens - known,
      ready: ready - listens,
      whole: ready - began,
    };
  } finally {
    requests.end();
    await replicas.stop(id);
  }
}

async function addressOf(replicas: DockerProvider["replicas"], id: string): Promise<string> {
  const found = Promise.withResolvers<string>();
  const look = async (): Promise<void> => {
    const replica: Replica | undefined = (await replicas.list()).find((each) => each.id === id);
    if (replica?.state === "exited") found.reject(new Error(replica.failure?.message ?? "the container ended"));
    else if (replica?.address !== undefined) found.resolve(replica.address);
  };
  const end = replicas.onChange(() => void look());
  try {
    await look();
    return await found.promise;
  } finally {
    end();
  }
}

/** The time when the platform's probe succeeded. */
async function probed(address: string): Promise<number> {
  const ready = Promise.withResolvers<number>();
  const changed = (): void => ready.resolve(performance.now());
  const probe = new ReplicaProbe({
    prober: new HttpProber(),
    address,
    isFunctionPort: true,
    plans: probePlans({}, false),
    changed,
    now: Date.now,
  });
  try {
    return await ready.promise;
  } finally {
    probe.close();
  }
}
