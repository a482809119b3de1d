import { PlatformError } from "../../../api/platform-error.ts";
import type { AddressListener, EngineLog } from "../../../core/ports/engine.ts";
import { bridgeName } from "../firewall/bridge-name.ts";
import { engineLabel, instanceFilter } from "./containers/container-labels.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import type { NetworkDocument } from "./engine/engine-types.ts";
import type { HostFirewall } from "../firewall/host-firewall.ts";

/** The network of one namespace. */
export interface NamespaceNetwork {
  readonly name: string;
  /** Address of this host on its bridge. */
  readonly address: string;
}

export interface NetworksParts {
  readonly engine: EngineClient;
  readonly instance: string;
  readonly firewall: HostFirewall;
  readonly log: EngineLog;
}

/** One bridge per namespace, with NAT to the outside, created on first use. */
export class Networks {
  readonly #parts: NetworksParts;
  readonly #known = new Map<string, NamespaceNetwork>();
  /** Namespaces whose known network may be gone. */
  readonly #doubted = new Set<string>();
  readonly #listeners = new Set<AddressListener>();
  /** Addresses at which the gateway listens. */
  #served: readonly string[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: NetworksParts) {
    this.#parts = parts;
  }

  /** Finds the networks that an earlier process created. */
  open(): Promise<void> {
    return this.#change(async () => {
      for (const network of await this.#list()) this.#remember(network);
      await this.#notify();
    });
  }

  /** Addresses of this host on the bridges. */
  addresses(): string[] {
    return [...this.#known.values()].map(({ address }) => address);
  }

  /** Also called with the current addresses, before this resolves; the returned function ends it. */
  async onAddresses(listener: AddressListener): Promise<() => void> {
    this.#listeners.add(listener);
    await this.#change(() => this.#notify());
    return () => this.#listeners.delete(listener);
  }

  /** The network of a namespace; once this resolves the gateway listens on it, if it can. */
  ensure(namespace: string): Promise<NamespaceNetwork> {
    return this.#change(async () => {
      const known = this.#known.get(namespace);
      if (known !== undefined && !this.#doubted.has(namespace)) return known;
      const network = this.#remember((await this.#inspect(namespace)) ?? (await this.#create(namespace)));
      this.#doubted.delete(namespace);
      await this.#notify();
      return network;
    });
  }

  /** Makes the next `ensure` check whether the network still exists. */
  doubt(namespace: string): void {
    this.#doubted.add(namespace);
  }

  /** Removes the network of a namespace unless `inUse()`, which is called when the change runs. */
  release(namespace: string, inUse: () => boolean): Promise<void> {
    return this.#change(async () => {
      if (inUse()) return;
      await this.#remove(this.#nameOf(namespace));
      if (this.#known.delete(namespace)) await this.#notify();
    });
  }

  /** Removes all networks of the instance; no container may use them any more. */
  close(): Promise<void> {
    return this.#change(async () => {
      this.#known.clear();
      await this.#notify();
      for (const { Name: name } of await this.#list()) await this.#remove(name);
    });
  }

  #nameOf(namespace: string): string {
    return `weir-${this.#parts.instance}-${namespace}`;
  }

  async #list(): Promise<readonly NetworkDocument[]> {
    const query = { filters: instanceFilter(this.#parts.instance) };
    return (await this.#parts.engine.call<NetworkDocument[]>("GET", "/networks", { query })).body ?? [];
  }

  async #inspect(namespace: string): Promise<NetworkDocument | undefined> {
    const path = `/networks/${this.#nameOf(namespace)}`;
    return (await this.#parts.engine.call<NetworkDocument>("GET", path, { expected: [404] })).body;
  }

  async #create(namespace: string): Promise<NetworkDocument> {
    const { engine, instance } = this.#parts;
    const name = this.#nameOf(namespace);
    const body = {
      Name: name,
      Driver: "bridge",
      CheckDuplicate: true,
      EnableIPv6: false,
      Labels: { [engineLabel.instance]: instance, [engineLabel.namespace]: namespace },
      Options: {
        "com.docker.network.bridge.name": bridgeName(instance, namespace),
        // Functions call each other through the gateway only: in front of a replica nobody checks rights.
        "com.docker.network.bridge.enable_icc": "false",
      },
    };
    await engine.call("POST", "/networks/create", { body });
    const created = await this.#inspect(namespace);
    if (created !== undefined) return created;
    throw new PlatformError("internal_error", `Cannot create network "${name}": it disappeared again`);
  }

  #remember({ Name: name, Labels: labels, IPAM: { Config: config } }: NetworkDocument): NamespaceNetwork {
    const address = config?.[0]?.Gateway?.split("/", 1)[0];
    const namespace = labels?.[engineLabel.namespace];
    if (address === undefined || namespace === undefined) {
      throw new PlatformError(
        "internal_error",
        `Cannot use network "${name}": it has no address of this host, or no label`,
      );
    }
    const network = { name, address };
    this.#known.set(namespace, network);
    return network;
  }

  /** Containers may call the gateway at the addresses where it listens; the firewall allows no others. */
  async #notify(): Promise<void> {
    const { firewall, log } = this.#parts;
    const addresses = this.addresses();
    try {
      for (const listener of this.#listeners) await listener(addresses);
      this.#served = addresses;
    } catch (err) {
      log.warn({ err, addresses }, "functions cannot call the gateway: it does not listen on a new bridge");
      this.#served = this.#served.filter((address) => addresses.includes(address));
    }
    await firewall.allow(this.#served);
  }

  async #remove(name: string): Promise<void> {
    await this.#parts.engine.call("DELETE", `/networks/${name}`, { expected: [403, 404] });
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
