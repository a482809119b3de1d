import { functionPort } from "../../../core/functions/function-port.ts";
import type { Replica, ReplicaSpec } from "../../../core/ports/replicas.ts";
import { engineRestarted, type ReplicaFailure } from "../../../core/replicas/reconcile-backoff.ts";
import { endOf } from "./containers/container-failure.ts";
import type { LabelledReplica } from "./containers/container-labels.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import type { ContainerDocument } from "./engine/engine-types.ts";
import type { PullListener } from "./images/images.ts";
import { lastLines } from "./last-lines.ts";
import type { NamespaceNetwork } from "./networks.ts";
import { failureOf } from "./containers/start-failure.ts";

/** What all replicas share. */
export interface DockerReplicaParts {
  readonly engine: EngineClient;
  /** Id of the image of a spec; pulls the image if necessary. */
  imageOf(spec: ReplicaSpec, listener: PullListener): Promise<string>;
  networkOf(namespace: string): Promise<NamespaceNetwork>;
  /** A start failed, perhaps because the namespace's network is gone. */
  doubtNetwork(namespace: string): void;
  /** The engine's description of a container. */
  request(spec: ReplicaSpec, id: string, image: string, network: NamespaceNetwork): object;
  /** Name of a replica's container. */
  containerOf(id: string): string;
  /** Keeps the log of a container that is about to be removed. */
  keepLog(replica: LabelledReplica, container: string): Promise<void>;
  /** Whether an end at this moment is the engine's doing. */
  endsWithEngine(id: string): boolean;
  /** Called after each change of state. */
  changed(replica: LabelledReplica): void;
}

/** Time that a container gets beyond its grace to end by itself. */
const marginSeconds = 1;

/** One container and its state. */
export class DockerReplica {
  readonly facts: LabelledReplica;
  readonly #parts: DockerReplicaParts;
  readonly #stopping = Promise.withResolvers<void>();
  #state: Replica["state"] = "starting";
  #address: string | undefined;
  /** Its container was created and may have written something. */
  #created = false;
  #failure: ReplicaFailure | undefined;
  /** Settles once the container runs, failed to start, or will not be started any more. */
  #started: Promise<void> = Promise.resolve();
  #looking: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  private constructor(facts: LabelledReplica, parts: DockerReplicaParts) {
    this.facts = facts;
    this.#parts = parts;
  }

  /** Starts one in the background. */
  static begin(facts: LabelledReplica, spec: ReplicaSpec, parts: DockerReplicaParts): DockerReplica {
    const replica = new DockerReplica(facts, parts);
    replica.#started = replica.#start(spec).catch(async (err: unknown) => {
      parts.doubtNetwork(spec.namespace);
      replica.#end(failureOf(err, "CannotStart"));
    });
    return replica;
  }

  /** Adopts one that an earlier process started. */
  static adopt(facts: LabelledReplica, container: ContainerDocument, parts: DockerReplicaParts): DockerReplica {
    const replica = new DockerReplica(facts, parts);
    replica.#created = true;
    replica.#onRunning(container);
    return replica;
  }

  /** Name of its container; it may not be there yet. */
  get container(): string {
    return this.#parts.containerOf(this.facts.id);
  }

  /** Whether its container was started and may still write. */
  get runs(): boolean {
    return this.#address !== undefined;
  }

  /** As `Replicas` lists it. */
  describe(): Replica {
    const { id, name, namespace, generation } = this.facts;
    return { id, name, namespace, generation, state: this.#state, address: this.#address, failure: this.#failure };
  }

  /** Updates its state from the engine; rejects when the engine is unavailable. */
  look(): Promise<void> {
    const look = async (): Promise<void> => {
      await this.#started;
      if (this.#state === "exited" || this.#stopped !== undefined) return;
      const container = await this.#inspect();
      if (container === undefined)
        this.#end({ reason: "Removed", message: `Replica ${this.facts.id} was removed by something other than Weir` });
      else if (container.State.Running) this.#onRunning(container);
      else this.#end(await this.#whyEnded(container));
    };
    this.#looking = this.#looking.then(look, look);
    return this.#looking;
  }

  /** Resolves when nothing is left of it; rejects when the engine is unavailable, and can then be called again. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop().catch((err: unknown) => {
      this.#stopped = undefined;
      throw err;
    });
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { engine } = this.#parts;
    this.#stopping.resolve();
    const mayRun = this.#state !== "exited";
    if (mayRun) this.#state = "stopping";
    await this.#started;
    const path = `/containers/${this.container}`;
    if (mayRun) {
      const seconds = Math.ceil(this.facts.grace / 1_000) + marginSeconds;
      await engine.call("POST", `${path}/stop`, { query: { t: String(seconds) }, expected: [404], timeout: 0 });
    }
    if (this.#created) await this.#parts.keepLog(this.facts, this.container);
    await engine.call("DELETE", path, { query: { force: "1", v: "1" }, expected: [404, 409] });
    this.#state = "exited";
  }

  async #start(spec: ReplicaSpec): Promise<void> {
    const { engine } = this.#parts;
    const image = await Promise.race([
      this.#parts.imageOf(spec, (words) => this.#pulling(spec.image, words)),
      this.#stopping.promise,
    ]);
    const network = await this.#parts.networkOf(spec.namespace);
    if (image === undefined || this.#hasToStop()) return;
    this.#failure = undefined;
    const body = this.#parts.request(spec, this.facts.id, image, network);
    await engine.call("POST", "/containers/create", { query: { name: this.container }, body });
    this.#created = true;
    if (this.#hasToStop()) return;
    await engine.call("POST", `/containers/${this.container}/start`);
    const container = await this.#inspect();
    if (container?.State.Running === true) this.#onRunning(container);
    else if (container !== undefined) this.#end(await this.#whyEnded(container));
  }

  /** Read again after each wait, as the state may have changed meanwhile. */
  #hasToStop(): boolean {
    return this.#state !== "starting";
  }

  async #inspect(): Promise<ContainerDocument | undefined> {
    const path = `/containers/${this.container}/json`;
    return (await this.#parts.engine.call<ContainerDocument>("GET", path, { expected: [404] })).body;
  }

  async #whyEnded(container: ContainerDocument): Promise<ReplicaFailure> {
    const { id } = this.facts;
    if (this.#parts.endsWithEngine(id))
      return { reason: engineRestarted, message: `Replica ${id} ended with the container engine, which was restarted` };
    const lines = await lastLines(this.#parts.engine, this.container).catch(() => []);
    return endOf(id, container, lines);
  }

  #pulling(image: string, words: string): void {
    if (this.#state !== "starting") return;
    const message = `Pulling image "${image}"${words === "" ? "" : `: ${words}`}`;
    this.#failure = { reason: "PullingImage", message };
    this.#parts.changed(this.facts);
  }

  #onRunning(container: ContainerDocument): void {
    const [network] = Object.values(container.NetworkSettings.Networks);
    const address =
      network === undefined || network.IPAddress === "" ? undefined : `${network.IPAddress}:${functionPort}`;
    if (address === undefined || (this.#address === address && this.#state !== "starting")) return;
    this.#address = address;
    this.#failure = undefined;
    if (this.#state === "starting") this.#state = "running";
    this.#parts.changed(this.facts);
  }

  #end(failure: ReplicaFailure): void {
    if (this.#state === "stopping") return;
    this.#state = "exited";
    this.#failure = failure;
    this.#parts.changed(this.facts);
  }
}
