import type { RuleSet } from "../../../core/access/rule-set.ts";
import type { AccessRules } from "../../../core/ports/access-rules.ts";
import type { KubeClient } from "../client/client.ts";
import { holdsAll } from "../client/in-doubt.ts";
import { kinds } from "../client/kinds.ts";
import { keysRead } from "../manifests/object-names.ts";
import { WatchedRules, type WatchedRulesOptions } from "./watched-rules.ts";

const longestMessage = 1_000;

/**
 * The rules in the JwtIssuers, Policies and Roles of the platform's namespace. While the API server is unavailable, the
 * known ones stay in force.
 */
export class KubeAccessRules implements AccessRules {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #now: () => number;
  readonly #watched: WatchedRules;

  /** Watches the objects from now on. */
  constructor(client: KubeClient, options: WatchedRulesOptions, now: () => number = Date.now) {
    this.#client = client;
    this.#namespace = options.namespace;
    this.#now = now;
    this.#watched = new WatchedRules(client, options);
  }

  async watch(observe: (rules: RuleSet) => void): Promise<() => void> {
    await this.#watched.synced;
    observe(this.#watched.rules);
    return this.#watched.listen({ rules: observe });
  }

  /** As condition `KeysRead` of its object, which the operator makes part of `Ready`. */
  async reportKeys(issuer: string, fault: string | undefined): Promise<void> {
    const object = this.#watched.objects("JwtIssuer").get(`${this.#namespace}/${issuer}`);
    if (object === undefined) return;
    const { generation = 0 } = object.metadata;
    const wanted =
      fault === undefined
        ? { type: keysRead, status: "True", reason: "KeysRead", message: "The keys of the issuer were read" }
        : { type: keysRead, status: "False", reason: "KeysUnavailable", message: fault.slice(0, longestMessage) };
    const before = object.status?.conditions?.find(({ type }) => type === keysRead);
    const kept = before?.status === wanted.status ? before.lastTransitionTime : undefined;
    const condition = {
      ...wanted,
      lastTransitionTime: kept ?? new Date(this.#now()).toISOString(),
      observedGeneration: generation,
    };
    if (holdsAll(before, condition)) return;
    const metadata = { namespace: this.#namespace, name: issuer };
    const update = { metadata, status: { conditions: [condition] } };
    await this.#client.apply(kinds.jwtIssuer, update, { ...metadata, subresource: "status" }, { force: true });
  }

  async close(): Promise<void> {
    await this.#watched.close();
  }
}
