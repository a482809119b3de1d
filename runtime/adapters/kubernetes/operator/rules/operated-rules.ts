import type { IamKind } from "../../../../api/iam/iam-schemas.ts";
import type { RuleSet } from "../../../../core/access/rule-set.ts";
import type { OperatedKind } from "../../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../../client/client.ts";
import { ruleKinds, type WatchedRules } from "../../stores/watched-rules.ts";
import { placeOfKey } from "../../watch/object-cache.ts";
import { keysRead } from "../../manifests/object-names.ts";
import { ruleConditions, ruleVerdicts, type RuleVerdicts } from "./rule-conditions.ts";
import { writeConditions } from "../write-conditions.ts";

/** How the objects of one kind are judged. */
export interface OperatedRulesOptions {
  readonly kind: IamKind;
  /** Shared by all kinds: whether an object is right depends on the others. */
  readonly watched: WatchedRules;
  /** Whether the edition acts on rules. */
  readonly isEnforced: boolean;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Milliseconds until an object that changed is in the rules, mostly. */
const untilCurrent = 250;

/** JwtIssuers, Policies or Roles: each gets conditions that say whether it counts, and what is wrong with it. */
export class OperatedRules implements OperatedKind {
  readonly name: string;
  readonly #client: KubeClient;
  readonly #options: OperatedRulesOptions;
  #verdicts: RuleVerdicts = { faults: new Map(), included: new Set(), reporting: new Set() };
  #end: (() => void) | undefined;

  constructor(client: KubeClient, options: OperatedRulesOptions) {
    this.name = options.kind.toLowerCase();
    this.#client = client;
    this.#options = options;
  }

  async open(changed: (key: string) => void): Promise<void> {
    const { kind, watched } = this.#options;
    await watched.synced;
    this.#judge(watched.rules);
    this.#end = watched.listen({
      object: (of, key) => {
        if (of === kind) changed(key);
      },
      rules: (rules) => {
        for (const key of this.#judge(rules)) changed(key);
      },
    });
    for (const key of this.keys()) changed(key);
  }

  keys(): Iterable<string> {
    const { kind, watched } = this.#options;
    return watched.objects(kind).keys();
  }

  async reconcile(key: string): Promise<number | undefined> {
    const { kind, watched, isEnforced, now = Date.now } = this.#options;
    const object = watched.objects(kind).get(key);
    // One that is being deleted is in no rules.
    if (object === undefined || (object.document ?? object.fault) === undefined) return undefined;
    if (!watched.isCurrent) return untilCurrent;
    const keys = object.status?.conditions?.find(({ type, status }) => type === keysRead && status === "False");
    const statements = ruleConditions(kind, placeOfKey(key).name, this.#verdicts, isEnforced, keys?.message);
    await writeConditions(this.#client, ruleKinds[kind], object, statements, now());
    return undefined;
  }

  async close(): Promise<void> {
    this.#end?.();
    await this.#options.watched.close();
  }

  /** Keys of the objects whose verdict is another one now. */
  #judge(rules: RuleSet): string[] {
    const keys = [...this.keys()];
    const before = this.#verdicts;
    const after = ruleVerdicts(
      this.#options.kind,
      keys.map((key) => placeOfKey(key).name),
      rules,
    );
    this.#verdicts = after;
    return keys.filter((key) => {
      const { name } = placeOfKey(key);
      return (
        before.faults.get(name) !== after.faults.get(name) ||
        before.included.has(name) !== after.included.has(name) ||
        before.reporting.has(name) !== after.reporting.has(name)
      );
    });
  }
}
