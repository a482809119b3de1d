import { randomBytes } from "node:crypto";

import { PlatformError } from "../../../api/platform-error.ts";
import { functionPort } from "../../../core/functions/function-port.ts";
import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { EngineLog } from "../../../core/ports/engine.ts";
import type { Replica, Replicas, ReplicaSpec } from "../../../core/ports/replicas.ts";
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
import { removeContainers, takeOver } from "./containers/leftover-containers.ts";
import type { Networks } from "./networks.ts";

/** What docker replicas are made with. */
export interface DockerReplicasParts extends Pick<ContainerSurroundings, "instance" | "cpus" | "defaultLimits"> {
  readonly engine: EngineClient;
  readonly views: SecretViews;
  readonly images: Images;
  readonly networks: Networks;
  readonly firewall: HostFirewall;
  /** User and group that functions run as; undefined = those of this process. */
  readonly user: number | undefined;
  /** Names of the gateway in containers. */
  readonly gatewayNames: readonly string[];
  readonly endedLogs: EndedLogs;
  readonly log: EngineLog;
}

/** A replica's container, for those that read from it. */
export interface ReplicaContainer {
  /** The replica's id. */
  readonly id: string;
  /** The container's name. */
  readonly container: string;
}

/**
 * Runs replicas as containers of one engine. Those that an earlier process of the same instance left running are taken over
 * by `open`; no container outlives `close`.
 */
export class DockerReplicas implements Replicas {
  readonly traits = { port: functionPort, answersProbes: false };
  readonly #parts: DockerReplicasParts;
  readonly #replicas = new Map<string, DockerReplica>();
  readonly #heard = new Set<(ref: FunctionRef) => void>();
  /** Which replicas, also ones just being started, name which secrets. */
  readonly #named = new Map<string, LabelledReplica>();
  /** Ids of images by function and generation: all replicas of one run the same. */
  readonly #images = new Map<string, string>();
  readonly #ended = new AbortController();
  #closing: Promise<void> | undefined;
  readonly #replicaParts: DockerReplicaParts;
  #listening: Promise<void> = Promise.resolve();

  constructor(parts: DockerReplicasParts) {
    this.#parts = parts;
    const { engine, networks } = parts;
    this.#replicaParts = {
      engine,
      imageOf: (spec, heard) => this.#imageOf(spec, heard),
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
      changed: (ref) => this.#tell(ref),
    };
  }

  /** Takes over what runs, removes what does not, and listens from then on. Rejects when the engine is away. */
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
      // The engine may have made its own rules anew.
      await this.#parts.firewall.restore();
      await Promise.all([...this.#replicas.values()].map((replica) => replica.look()));
    };
    const lost = (err: unknown): void => log.warn({ err }, "cannot hear the container engine, trying again");
    const listener = { connected, lost, event: (event: EngineEvent) => this.#see(event) };
    this.#listening = listenToEngine(engine, instance, listener, this.#ended.signal);
    await opened.promise;
  }

  async start(spec: ReplicaSpec): Promise<Replica> {
    await this.check();
    const { name, namespace, generation, secrets, grace } = spec;
    const facts = { id: `${name}-${randomBytes(5).toString("hex")}`, name, namespace, generation, secrets, grace };
    this.#named.set(facts.id, facts);
    try {
      await this.#parts.views.show({ name, namespace }, secrets, this.#parts.user);
      this.#mustBeOpen();
      const replica = DockerReplica.begin(facts, spec, this.#replicaParts);
      this.#replicas.set(facts.id, replica);
      return replica.describe();
    } catch (err) {
      await this.#unname(facts);
      throw err;
    }
  }

  async stop(id: string): Promise<void> {
    const replica = this.#replicas.get(id);
    if (replica === undefined) return;
    await replica.stop();
    this.#replicas.delete(id);
    await this.#unname(replica.facts);
  }

  async list(): Promise<readonly Replica[]> {
    return [...this.#replicas.values()].map((replica) => replica.describe());
  }

  leftovers(): Promise<readonly FunctionRef[]> {
    return this.#parts.endedLogs.functions();
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#heard.add(changed);
    return () => this.#heard.delete(changed);
  }

  async check(): Promise<void> {
    this.#mustBeOpen();
    await this.#parts.engine.ping();
  }

  async forget(ref: FunctionRef): Promise<void> {
    await this.#parts.views.forget(ref);
    await this.#parts.endedLogs.forget(ref);
    for (const key of this.#images.keys()) if (key.startsWith(`${formatRef(ref)} `)) this.#images.delete(key);
    await this.forgetNamespace(ref.namespace);
  }

  /** Content while another function of the namespace is here. */
  async forgetNamespace(namespace: string): Promise<void> {
    const inUse = (): boolean => [...this.#named.values()].some((facts) => facts.namespace === namespace);
    await this.#parts.networks.release(namespace, inUse);
  }

  /** Containers and networks of the instance are gone then, and the rules of this host. Rejects when the engine is away. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** As `close`, but calls under way are cut off. */
  async endNow(): Promise<void> {
    await removeContainers(this.#parts.engine, this.#parts.instance);
    await this.close();
  }

  async #close(): Promise<void> {
    this.#ended.abort();
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

  /** Whether anything of a function is here. */
  knows({ namespace, name }: FunctionRef): boolean {
    return [...this.#named.values()].some((facts) => facts.namespace === namespace && facts.name === name);
  }

  async #imageOf(spec: ReplicaSpec, heard: PullListener): Promise<string> {
    const { images } = this.#parts;
    const key = generationKey(spec);
    const known = this.#images.get(key);
    if (known !== undefined && (await images.has(known))) return known;
    const image = await images.resolve(spec.image, heard);
    for (const other of this.#images.keys()) {
      const isOlder = other.startsWith(`${formatRef(spec)} `) && other !== key;
      if (isOlder) this.#images.delete(other);
    }
    this.#images.set(key, image);
    return image;
  }

  /** What an engine that is away, or a full disk, keeps from being kept is lost; nothing else is. */
  async #keepLog(facts: LabelledReplica, container: string): Promise<void> {
    const { engine, endedLogs } = this.#parts;
    await endOfContainerLog(engine, container)
      .then((log) => endedLogs.keep(facts, facts.id, log))
      .catch(() => {});
  }

  #see({ Actor: { Attributes: labels } }: EngineEvent): void {
    const id = parseLabels(labels)?.id;
    // When the engine is away by now it will be looked at once it is back.
    if (id !== undefined)
      this.#replicas
        .get(id)
        ?.look()
        .catch(() => {});
  }

  async #unname(facts: LabelledReplica): Promise<void> {
    this.#named.delete(facts.id);
    await this.#parts.views.limit(facts, () => {
      const others = [...this.#named.values()].filter((other) => formatRef(other) === formatRef(facts));
      return new Set(others.flatMap(({ secrets }) => secrets));
    });
  }

  #mustBeOpen(): void {
    if (!this.#ended.signal.aborted) return;
    throw new PlatformError("provider_unavailable", "Cannot start replicas: the provider is closing");
  }

  #tell({ namespace, name }: FunctionRef): void {
    for (const changed of this.#heard) changed({ namespace, name });
  }
}

function generationKey(spec: FunctionRef & { readonly generation: number }): string {
  return `${formatRef(spec)} ${spec.generation}`;
}

function userText(user: number | undefined): string {
  return user === undefined ? `${process.getuid?.() ?? ""}:${process.getgid?.() ?? ""}` : `${user}:${user}`;
}
