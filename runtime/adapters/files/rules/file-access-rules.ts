import { watch, type FSWatcher } from "node:fs";

import { isIamFile } from "../../../api/iam/iam-files.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { buildRuleSet } from "../../../core/access/build-rule-set.ts";
import { noRules, type RuleFault, type RuleSet } from "../../../core/access/rule-set.ts";
import type { AccessRules } from "../../../core/ports/access-rules.ts";
import { listRuleFiles, type RuleListing } from "./list-rule-files.ts";
import { RepeatedLook } from "./repeated-look.ts";
import { RuleFiles } from "./rule-files.ts";

/** Options of the rules in a directory. */
export interface FileAccessRulesOptions {
  /**
   * Milliseconds between two looks at the directory, which find every change; what the system says of changes only makes
   * the next one earlier.
   */
  readonly interval?: number;
  /** Called with errors that observers throw. */
  readonly onFailure?: (err: unknown) => void;
}

type FoundDirectory = Extract<RuleListing, { readonly kind: "found" }>;

/** Milliseconds from a sign of a change to the next look. */
const settling = 40;

/**
 * The rules in the YAML files of a directory, read again when they change. While the directory cannot be read, or others
 * than its owner may write it, what was read before stays in force, with a fault.
 */
export class FileAccessRules implements AccessRules {
  readonly #directory: string;
  readonly #onFailure: (err: unknown) => void;
  readonly #files: RuleFiles;
  readonly #look: RepeatedLook;
  readonly #observers = new Set<{ readonly observe: (rules: RuleSet) => void }>();
  /** Whoever replaces the directory must have the same owner. */
  readonly #owner: bigint;
  #rules: RuleSet = noRules;
  #directoryFault: RuleFault | undefined;
  #watcher: { readonly identity: string; readonly watcher: FSWatcher } | undefined;

  /**
   * Reads the directory, and watches it until `close`.
   * @throws PlatformError if it cannot be read, or others than its owner may write it
   */
  static async open(directory: string, options: FileAccessRulesOptions = {}): Promise<FileAccessRules> {
    const listing = await listRuleFiles(directory);
    if (listing.kind !== "found") {
      throw new PlatformError("internal_error", `Cannot read rules in "${directory}": ${listing.sentence}`);
    }
    const files = new RuleFiles(directory);
    await files.update(listing, true);
    return new FileAccessRules(directory, listing, files, options);
  }

  private constructor(
    directory: string,
    listing: FoundDirectory,
    files: RuleFiles,
    { interval = 500, onFailure = () => {} }: FileAccessRulesOptions,
  ) {
    this.#directory = directory;
    this.#owner = listing.owner;
    this.#files = files;
    this.#onFailure = onFailure;
    this.#look = new RepeatedLook({ look: () => this.#lookAgain(), interval, onFailure });
    this.#follow(listing);
    this.#publish();
  }

  async watch(observe: (rules: RuleSet) => void): Promise<() => void> {
    const observer = { observe };
    observe(this.#rules);
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Resolves when nothing is being read any more. */
  async close(): Promise<void> {
    this.#observers.clear();
    await this.#look.close();
    this.#watcher?.watcher.close();
  }

  async #lookAgain(): Promise<void> {
    const listing = this.#ofSameOwner(await listRuleFiles(this.#directory));
    if (listing.kind !== "found") return this.#reportDirectory(listing.sentence);
    this.#follow(listing);
    const { hasChanged, isSettling } = await this.#files.update(listing);
    if (isSettling) this.#look.within(settling);
    if (!hasChanged && this.#directoryFault === undefined) return;
    this.#directoryFault = undefined;
    this.#publish();
  }

  #ofSameOwner(listing: RuleListing): RuleListing {
    if (listing.kind !== "found" || listing.owner === this.#owner) return listing;
    return { kind: "refused", sentence: `it belongs to another user (${listing.owner}) than before (${this.#owner})` };
  }

  #reportDirectory(state: string): void {
    const sentence = `${state}; the rules that were read before stay in force`;
    if (this.#directoryFault?.sentence === sentence) return;
    this.#directoryFault = { subject: `directory "${this.#directory}"`, sentence };
    this.#publish();
  }

  /** Watches the directory that was found; after it was replaced, the new one. */
  #follow({ identity }: FoundDirectory): void {
    if (this.#watcher?.identity === identity) return;
    this.#watcher?.watcher.close();
    this.#watcher = undefined;
    try {
      const watcher = watch(this.#directory, { persistent: false }, (_event, name) => {
        if (name === null || isIamFile(name)) this.#look.within(settling);
      });
      watcher.on("error", () => {
        watcher.close();
        if (this.#watcher?.watcher === watcher) this.#watcher = undefined;
      });
      this.#watcher = { identity, watcher };
      // What changed before it was watched.
      this.#look.within(settling);
    } catch {
      // The system has no more watches, or the directory is gone: the next looks find what changes.
    }
  }

  #publish(): void {
    const faults = [...this.#files.faults, ...(this.#directoryFault === undefined ? [] : [this.#directoryFault])];
    const rules = buildRuleSet(this.#files.documents, faults);
    if (rules.version === this.#rules.version) return;
    this.#rules = rules;
    for (const { observe } of this.#observers) {
      try {
        observe(rules);
      } catch (err) {
        this.#onFailure(err);
      }
    }
  }
}
