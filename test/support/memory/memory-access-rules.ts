import { checkIamManifest } from "../../../runtime/api/iam/iam-document.ts";
import { buildRuleSet, type AccessDocument } from "../../../runtime/core/access/build-rule-set.ts";
import { noRules, type RuleFault, type RuleSet } from "../../../runtime/core/access/rule-set.ts";
import type { AccessRules } from "../../../runtime/core/ports/access-rules.ts";

/** Rules of manifests in this process; observers are called before a change returns. */
export class MemoryAccessRules implements AccessRules {
  readonly #manifests = new Map<string, unknown>();
  readonly #observers = new Set<{ readonly observe: (rules: RuleSet) => void }>();
  #rules: RuleSet = noRules;

  constructor(...manifests: readonly object[]) {
    for (const [index, manifest] of manifests.entries()) this.#manifests.set(String(index), manifest);
    this.#build();
  }

  get rules(): RuleSet {
    return this.#rules;
  }

  /** Adds or replaces the manifest of this key; undefined removes it. */
  set(key: string, manifest: object | undefined): void {
    if (manifest === undefined) this.#manifests.delete(key);
    else this.#manifests.set(key, manifest);
    this.#build();
  }

  async watch(observe: (rules: RuleSet) => void): Promise<() => void> {
    const observer = { observe };
    observe(this.#rules);
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  #build(): void {
    const documents: AccessDocument[] = [];
    const faults: RuleFault[] = [];
    for (const manifest of this.#manifests.values()) {
      const checked = checkIamManifest(manifest);
      if (checked.document !== undefined) documents.push(checked.document);
      else
        faults.push({
          subject: checked.subject ?? "manifest",
          sentence: `it is left out: ${checked.finding.sentence}`,
        });
    }
    const rules = buildRuleSet(documents, faults);
    if (rules.version === this.#rules.version) return;
    this.#rules = rules;
    for (const { observe } of this.#observers) observe(rules);
  }
}
