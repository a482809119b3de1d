import { randomBytes } from "node:crypto";

import { PlatformError } from "../../../api/platform-error.ts";
import { functionPort } from "../../../core/functions/function-port.ts";
import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { EngineLog } from "../../../core/ports/engine.ts";
import { addressesOf, type Replica, type Replicas, type ReplicaSpec } from "../../../core/ports/replicas.ts";
import type { SecretViews } from "../../files/secret-views.ts";
import type { EndedLogs } from "../../replica-logs/ended-logs.ts";
import { parseLabels, type LabelledReplica } from "./containers/container-labels.ts";
import { containerRequest, type ContainerSurroundings } from "./containers/container-request.ts";
import { DockerReplica, type DockerReplicaParts } from "./docker-replica.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import { listenToEngine } from "./engine-events.ts";
import type { EngineEvent } from "./engine/engine-types.ts";
import type { HostFirewall } from "../firewall/host-firewall.ts";
import type { Images, PullListener } from "./images/images.ts";
import { endOfContainerLog } from "./last-lines.ts";
import { removeContainers, takeOver } from "./containers/orphaned-containers.ts";
import type { Networks } from "./networks.ts";

/** What docker replicas depend on. */
export interface DockerReplicasParts extends Pick<ContainerSurroundings, "instance" | "cpus" | "defaultLimits"> {
  readonly engine: EngineClient;
  readonly views: SecretViews;
  readonly images: Images;
  readonly networks: Networks;
  readonly firewall: HostFirewall;
  /** User and group that functions run as; undefined = those of this process. */
  readonly user: number | undefined;
  /** Host names of the gateway in containers. */
  readonly gatewayNames: readonly string[];
  readonly endedLogs: EndedLogs;
  readonly log: EngineLog;
}

/** A replica's container, for readers of its log and usage. */
export interface ReplicaContainer {
  /** The replica's id. */
  readonly id: string;
  /** The container's name. */
  readonly container: string;
}

/** Milliseconds for which an engine that is back may still end the containers of before. */
const restartEnds = 10_000;

/**
 * Runs replicas as containers of one engine. `open` adopts those that an earlier process of the same instance left
 * running; no container outlives `close`.
 */
export class DockerReplicas implements Replicas {
  readonly traits = { port: functionPort, handlesProbes: false };
  readonly #parts: DockerReplicasParts;
  readonly #replicas = new Map<string, DockerReplica>();
  readonly #listeners = new Set<(ref: FunctionRef) => void>();
  /** Replicas by id, including those being started, with the secrets that they name. */
  readonly #named = new Map<string, LabelledReplica>();
  /** Image ids by function and generation: all replicas of a generation run the same image. */
  readonly #images = new Map<string, string>();
  /** Ids of those that were there when the engine was lost, until it has been back for a while. */
  readonly #survivors = new Set<string>();
  #survived: NodeJS.Timeout | undefined;
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;
  readonly #replicaParts: DockerReplicaParts;
  #listening: Promise<void> = Promise.resolve();

  constructor(parts: DockerReplicasParts) {
    this.#parts = parts;
    const { engine, networks } = parts;
    this.#replicaParts = {
      engine,
      imageOf: (spec, listener) => this.#imageOf(spec, listener),
      networkOf: (namespace) => networks.ensure(namespace),
      doubtNetwork: (namespace) => networks.doubt(namespace),
      request: (spec, id, image, network) =>
        containerRequest(spec, {
          ...parts,
          id,
          image,
          network: network.name,
          gatewayHosts: parts.gatewayNames.map((name) => `${name}:${network.address}`),
          secretsDirectory: parts.views.pathOf(spec),
          user: userText(parts.user),
        }),
      containerOf: (id) => `weir-${parts.instance}-${id}`,
      keepLog: (facts, container) => this.#keepLog(facts, container),
      endsWithEngine: (id) => this.#survivors.has(id),
      changed: (ref) => this.#notify(ref),
    };
  }

  /**
   * Adopts what runs, removes what does not, and follows the engine's events from then on. Rejects without an engine.
   */
  async open(): Promise<void> {
    const { engine, instance, log } = this.#parts;
    for (const { facts, container } of await takeOver(engine, instance, (replica, id) => this.#keepLog(replica, id))) {
      this.#named.set(facts.id, facts);
      await this.#parts.views.resume(facts, facts.secrets, this.#parts.user);
      this.#images.set(generationKey(facts), container.Image);
      this.#replicas.set(facts.id, DockerReplica.adopt(facts, container, this.#replicaParts));
    }
    await this.#parts.views.removeOthers();
    const opened = Promise.withResolvers<void>();
    const connected = async (): Promise<void> => {
      opened.resolve();
      // The engine may have rewritten its firewall rules.
      await this.#parts.firewall.restore();
      await Promise.all([...this.#replicas.values()].map((replica) => replica.look()));
      this.#survived = setTimeout(() => this.#survivors.clear(), restartEnds).unref();
    };
    const lost = (err: unknown): void => {
      log.warn({ err }, "lost the events of the container engine, reconnecting");
      clearTimeout(this.#survived);
      for (const id of this.#replicas.keys()) this.#survivors.add(id);
    };
    const listener = { connected, lost, event: (event: EngineEvent) => this.#onEvent(event) };
    this.#listening = listenToEngine(engine, instance, listener, this.#closed.signal);
    await opened.promise;
  }

  async start(spec: ReplicaSpec): Promise<Replica> {
    await this.check();
    const { name, namespace, generation, secrets, grace } = spec;
    const facts = { id: `${name}-${randomBytes(5).toString("hex")}`, name, namespace, generation, secrets, grace };
    this.#named.set(facts.id, facts);
    try {
      await this.#parts.views.show({ name, namespace }, secrets, this.#parts.user);
      this.#assertOpen();
      const replica = DockerReplica.begin(facts, spec, this.#replicaParts);
      this.#replicas.set(facts.id, replica);
      return replica.describe();
    } catch (err) {
      await this.#releaseSecrets(facts);
      throw err;
    }
  }

  async stop(id: string): Promise<void> {
    const replica = this.#replicas.get(id);
    if (replica === undefined) return;
    await replica.stop();
    this.#replicas.delete(id);
    await this.#releaseSecrets(replica.facts);
  }

  async list(): Promise<readonly Replica[]> {
    return [...this.#replicas.values()].map((replica) => replica.describe());
  }

  addresses(): readonly string[] {
    return [...this.#replicas.values()].flatMap((replica) => addressesOf(replica.describe()));
  }

  orphans(): Promise<readonly FunctionRef[]> {
    return this.#parts.endedLogs.functions();
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  async check(): Promise<void> {
    this.#assertOpen();
    await this.#parts.engine.ping();
  }

  async showToken(ref: FunctionRef, token: string | undefined): Promise<void> {
    const { views, user } = this.#parts;
    if (token === undefined) await views.hideToken(ref);
    else await views.showToken(ref, token, user);
  }

  async forget(ref: FunctionRef): Promise<void> {
    await this.#parts.views.forget(ref);
    await this.#parts.endedLogs.forget(ref);
    for (const key of this.#images.keys()) if (key.startsWith(`${formatRef(ref)} `)) this.#images.delete(key);
    await this.forgetNamespace(ref.namespace);
  }

  /** Does nothing while another function of the namespace is here. */
  async forgetNamespace(namespace: string): Promise<void> {
    const inUse = (): boolean => [...this.#named.values()].some((facts) => facts.namespace === namespace);
    await this.#parts.networks.release(namespace, inUse);
  }

  /** Removes the instance's containers, networks and firewall rules. Rejects when the engine is unavailable. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** As `close`, but aborts calls in flight. */
  async endNow(): Promise<void> {
    await removeContainers(this.#parts.engine, this.#parts.instance);
    await this.close();
  }

  async #close(): Promise<void> {
    this.#closed.abort();
    clearTimeout(this.#survived);
    const { engine, instance, images, networks, firewall } = this.#parts;
    images.close();
    await this.#listening;
    try {
      await Promise.all([...this.#replicas.keys()].map((id) => this.stop(id)));
      await removeContainers(engine, instance);
      await networks.close();
    } finally {
      await firewall.close();
    }
  }

  /** Containers of a function that were started, oldest first. */
  containersOf({ namespace, name }: FunctionRef): readonly ReplicaContainer[] {
    return [...this.#replicas.values()]
      .filter(({ facts, runs }) => runs && facts.namespace === namespace && facts.name === name)
      .map(({ facts, container }) => ({ id: facts.id, container }));
  }

  /** Whether the function has a replica here, or one being started. */
  knows({ namespace, name }: FunctionRef): boolean {
    return [...this.#named.values()].some((facts) => facts.namespace === namespace && facts.name === name);
  }

  async #imageOf(spec: ReplicaSpec, listener: PullListener): Promise<string> {
    const { images } = this.#parts;
    const key = generationKey(spec);
    const known = this.#images.get(key);
    if (known !== undefined && (await images.has(known))) return known;
    const image = await images.resolve(spec.image, listener);
    for (const other of this.#images.keys()) {
      const isOlder = other.startsWith(`${formatRef(spec)} `) && other !== key;
      if (isOlder) this.#images.delete(other);
    }
    this.#images.set(key, image);
    return image;
  }

  /** An engine that is unavailable, or a full disk, costs the log and nothing else. */
  async #keepLog(facts: LabelledReplica, container: string): Promise<void> {
    const { engine, endedLogs } = this.#parts;
    await endOfContainerLog(engine, container)
      .then((log) => endedLogs.keep(facts, facts.id, log))
      .catch(() => {});
  }

  #onEvent({ Actor: { Attributes: labels } }: EngineEvent): void {
    const id = parseLabels(labels)?.id;
    // If the engine is unavailable by now, `connected` looks once it is back.
    if (id !== undefined)
      this.#replicas
        .get(id)
        ?.look()
        .catch(() => {});
  }

  async #releaseSecrets(facts: LabelledReplica): Promise<void> {
    this.#named.delete(facts.id);
    await this.#parts.views.limit(facts, () => {
      const others = [...this.#named.values()].filter((other) => formatRef(other) === formatRef(facts));
      return new Set(others.flatMap(({ secrets }) => secrets));
    });
  }

  #assertOpen(): void {
    if (!this.#closed.signal.aborted) return;
    throw new PlatformError("provider_unavailable", "Cannot start replicas: the provider is closing");
  }

  #notify({ namespace, name }: FunctionRef): void {
    for (const changed of this.#listeners) changed({ namespace, name });
  }
}

function generationKey(spec: FunctionRef & { readonly generation: number }): string {
  return `${formatRef(spec)} ${spec.generation}`;
}

function userText(user: number | undefined): string {
  return user === undefined ? `${process.getuid?.() ?? ""}:${process.getgid?.() ?? ""}` : `${user}:${user}`;
}
