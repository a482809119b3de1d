import { checkIamManifest, iamSubject } from "../../../api/iam/iam-document.ts";
import { iamApiVersion, type IamKind } from "../../../api/iam/iam-schemas.ts";
import type { AcceptedObjectStatus } from "../../../api/resources/resource-conditions.ts";
import { buildRuleSet, type AccessDocument } from "../../../core/access/build-rule-set.ts";
import { noRules, type RuleFault, type RuleSet } from "../../../core/access/rule-set.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds, type Kind } from "../client/kinds.ts";
import type { KubeObject, ObjectMeta } from "../client/kube-types.ts";
import { contentHash } from "../manifests/content-hash.ts";
import type { ObjectChange } from "../watch/object-cache.ts";
import { KubeWatch } from "../watch/watch.ts";

/** The kinds that rules are made of. */
export const ruleKinds: Readonly<Record<IamKind, Kind>> = {
  JwtIssuer: kinds.jwtIssuer,
  Policy: kinds.policy,
  Role: kinds.role,
};

/** What is kept of an object that rules are made of. */
export interface RuleObject {
  readonly metadata: Pick<ObjectMeta, "namespace" | "name" | "generation">;
  readonly status: AcceptedObjectStatus | undefined;
  /** Undefined while it is being deleted, as then it counts no more, and when its specification is wrong. */
  readonly document: AccessDocument | undefined;
  readonly fault: RuleFault | undefined;
  /** Equal as long as the object means the same for the rules. */
  readonly digest: string;
}

/** Where rules are watched, and who hears of it. */
export interface WatchedRulesOptions {
  readonly namespace: string;
  readonly onFailure: (err: unknown) => void;
}

export interface RulesListener {
  /** An object has changed; the rules follow if it means another thing for them. */
  readonly object?: (kind: IamKind, key: string) => void;
  /** The rules, after each change of them. */
  readonly rules?: (rules: RuleSet) => void;
}

interface SourceObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: AcceptedObjectStatus;
}

/** Milliseconds in which changes are collected: a manifest may hold many objects. */
const collecting = 100;
/** Building takes at most this part of the time. */
const buildShare = 10;

/** All JwtIssuers, Policies and Roles of a namespace, and the rules that they make. */
export class WatchedRules {
  /** Resolves when all objects are known for the first time; rejects when it is closed before. */
  readonly synced: Promise<void>;
  readonly #watches: ReadonlyMap<IamKind, KubeWatch<SourceObject, RuleObject>>;
  readonly #onFailure: (err: unknown) => void;
  readonly #listeners = new Set<RulesListener>();
  #rules: RuleSet = noRules;
  #isSynced = false;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds that the last building of the rules took. */
  #buildTime = 0;

  constructor(client: KubeClient, { namespace, onFailure }: WatchedRulesOptions) {
    this.#onFailure = onFailure;
    this.#watches = new Map(
      (Object.keys(ruleKinds) as IamKind[]).map((kind) => {
        const keep = (object: SourceObject): RuleObject => ruleObject(kind, object);
        const watch = new KubeWatch<SourceObject, RuleObject>(client, ruleKinds[kind], { namespace, keep, onFailure });
        watch.listen((change) => this.#changed(kind, change));
        return [kind, watch] as const;
      }),
    );
    this.synced = Promise.all(Array.from(this.#watches.values(), ({ synced }) => synced)).then(() => {
      this.#isSynced = true;
      this.#build();
    });
    this.synced.catch(() => {});
  }

  /** The rules as they were built last. */
  get rules(): RuleSet {
    return this.#rules;
  }

  /** Whether all changes that are known are in the rules. */
  get isCurrent(): boolean {
    return this.#isSynced && this.#timer === undefined;
  }

  /** By `namespace/name`. */
  objects(kind: IamKind): ReadonlyMap<string, RuleObject> {
    return this.#watches.get(kind)?.objects ?? new Map();
  }

  /** Calls the listener from now on; returns a function that ends this. */
  listen(listener: RulesListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#listeners.clear();
    await Promise.all(Array.from(this.#watches.values(), (watch) => watch.close()));
  }

  #changed(kind: IamKind, { key, before, after }: ObjectChange<RuleObject>): void {
    if (!this.#isSynced) return;
    if (before?.digest !== after?.digest) {
      const delay = Math.max(collecting, buildShare * this.#buildTime);
      this.#timer ??= setTimeout(() => this.#build(), delay).unref();
    }
    for (const { object } of this.#listeners) object?.(kind, key);
  }

  #build(): void {
    this.#timer = undefined;
    const startedAt = performance.now();
    const objects = Array.from(this.#watches.values(), (watch) => [...watch.objects.values()]).flat();
    const documents = objects.flatMap(({ document }) => document ?? []);
    const rules = buildRuleSet(
      documents,
      objects.flatMap(({ fault }) => fault ?? []),
    );
    this.#buildTime = performance.now() - startedAt;
    if (rules.version === this.#rules.version) return;
    this.#rules = rules;
    for (const listener of this.#listeners) {
      try {
        listener.rules?.(rules);
      } catch (err) {
        this.#onFailure(err);
      }
    }
  }
}

function ruleObject(kind: IamKind, { metadata, spec, status }: SourceObject): RuleObject {
  const { namespace = "", name = "", generation = 0, deletionTimestamp } = metadata;
  const about = { metadata: { namespace, name, generation }, status };
  if (deletionTimestamp !== undefined) return { ...about, document: undefined, fault: undefined, digest: "deleted" };
  // The rest of the object is Kubernetes' own.
  const { document, finding } = checkIamManifest({ apiVersion: iamApiVersion, kind, metadata: { name }, spec });
  if (document !== undefined) return { ...about, document, fault: undefined, digest: contentHash(document) };
  const fault = { subject: iamSubject(kind, name), sentence: `it is left out: ${finding.sentence}` };
  return { ...about, document: undefined, fault, digest: contentHash(fault) };
}
