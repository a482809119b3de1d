import type { RuleSet } from "../../../core/access/rule-set.ts";
import type { AccessRules } from "../../../core/ports/access-rules.ts";
import type { KubeClient } from "../client/client.ts";
import { WatchedRules, type WatchedRulesOptions } from "./watched-rules.ts";

/**
 * The rules in the JwtIssuers, Policies and Roles of the platform's namespace. While the API server is unavailable, the
 * known ones stay in force.
 */
export class KubeAccessRules implements AccessRules {
  readonly #watched: WatchedRules;

  /** Watches the objects from now on. */
  constructor(client: KubeClient, options: WatchedRulesOptions) {
    this.#watched = new WatchedRules(client, options);
  }

  async watch(observe: (rules: RuleSet) => void): Promise<() => void> {
    await this.#watched.synced;
    observe(this.#watched.rules);
    return this.#watched.listen({ rules: observe });
  }

  async close(): Promise<void> {
    await this.#watched.close();
  }
}
