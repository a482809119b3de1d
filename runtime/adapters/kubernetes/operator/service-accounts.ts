import { accounts } from "../../../api/accounts.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isForbidden } from "../client/kube-refusal.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { listObjects } from "../client/list-objects.ts";

/** What is known of a service account. */
export interface AccountFacts {
  readonly exists: boolean;
  /** A role of Weir that it is bound to. */
  readonly bound?: string;
}

interface RoleBinding extends KubeObject {
  readonly roleRef: { readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** Milliseconds for which a result is cached. */
const fresh = 10_000;
const maxKept = 1_000;
/** Roles of platform processes, of any platform, as `clusterRoleName` names them. */
const ourRoles = new RegExp(`^.+-(?:${Object.values(accounts).join("|")})-(?:platform|functions|cluster)$`);

/** Looks up the service accounts that functions name; few functions name one. */
export class ServiceAccounts {
  readonly #client: KubeClient;
  readonly #known = new Map<string, { readonly at: number; readonly facts: Promise<AccountFacts | undefined> }>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Undefined when the operator's own account may not read it. Rejects as the client does. */
  of(namespace: string, name: string): Promise<AccountFacts | undefined> {
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    const now = performance.now();
    if (known !== undefined && now - known.at < fresh) return known.facts;
    const facts = this.#look(namespace, name);
    facts.catch(() => this.#known.delete(key));
    if (this.#known.size >= maxKept) this.#known.clear();
    this.#known.set(key, { at: now, facts });
    return facts;
  }

  async #look(namespace: string, name: string): Promise<AccountFacts | undefined> {
    try {
      if ((await this.#client.find(kinds.serviceAccount, { namespace, name })) === undefined) return { exists: false };
      const keep = (binding: RoleBinding): RoleBinding => binding;
      const { items } = await listObjects(this.#client, kinds.roleBinding, { namespace }, keep);
      const bound = items.find(
        ({ roleRef, subjects = [] }) =>
          ourRoles.test(roleRef.name) &&
          subjects.some((each) => each.kind === "ServiceAccount" && each.name === name && each.namespace === namespace),
      );
      return { exists: true, ...(bound === undefined ? {} : { bound: bound.roleRef.name }) };
    } catch (err) {
      if (isForbidden(err)) return undefined;
      throw err;
    }
  }
}
