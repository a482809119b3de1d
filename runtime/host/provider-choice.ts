import { readFile } from "node:fs/promises";

import { providerNames, type ProviderName } from "../api/machine-providers.ts";
import { PlatformError } from "../api/platform-error.ts";
import type { EngineFacts } from "../core/ports/engine.ts";
import { holdsNothing } from "../disk/durable-files.ts";
import { writeNote } from "./data-directory.ts";

/** What `auto` chooses at the first start: `preferred` if its engine can be used, else `otherwise`. */
export const autoProviders = { preferred: "docker", otherwise: "local" } as const;

export interface ProviderFacts {
  /** The setting. */
  readonly wanted: ProviderName | "auto";
  /** Chosen at an earlier start in this data directory; `unknown` = the note of it is empty. */
  readonly noted: ProviderName | "unknown" | undefined;
  /** Number of deployed functions. */
  readonly functions: number;
  /** State of the engine that `auto` prefers. */
  readonly engine: EngineFacts;
}

/** The provider to use, and whether to record it; or a sentence with the reason for a refusal. */
export type ProviderDecision =
  | {
      readonly kind: "use";
      readonly provider: ProviderName;
      readonly note: boolean;
      /** Why functions do not run in containers, unless that was chosen. */
      readonly engineTrouble?: string;
    }
  | { readonly kind: "refuse"; readonly because: string };

/**
 * `auto` keeps the first choice and never falls back from it, nor from an engine that was named explicitly; a different
 * provider can be named only while there are no functions.
 */
export function decideProvider(facts: ProviderFacts): ProviderDecision {
  const { wanted, functions } = facts;
  if (facts.noted === "unknown" && wanted === "auto" && functions > 0) {
    const remedy = "start with --provider and the one that runs them";
    return { kind: "refuse", because: `Cannot choose a provider: the note of the earlier choice is empty; ${remedy}` };
  }
  const noted = facts.noted === "unknown" ? undefined : facts.noted;
  const { unavailable: trouble, namedBy } = facts.engine;
  if (wanted === "auto" && noted === undefined && trouble !== undefined) {
    if (namedBy === undefined)
      return { kind: "use", provider: autoProviders.otherwise, note: true, engineTrouble: trouble };
    return {
      kind: "refuse",
      because: `${trouble}; ${namedBy} names that engine: to start without it, use --provider ${autoProviders.otherwise}`,
    };
  }
  const provider = wanted === "auto" ? (noted ?? autoProviders.preferred) : wanted;
  if (noted !== undefined && noted !== provider && functions > 0) {
    const deployed = functions === 1 ? "1 function was" : `${functions} functions were`;
    const remedy = `start with --provider ${noted}, delete them, and start again; or choose another directory with --data`;
    return {
      kind: "refuse",
      because: `Cannot use provider "${provider}": ${deployed} deployed with provider "${noted}"; ${remedy}`,
    };
  }
  return { kind: "use", provider, note: noted !== provider };
}

/**
 * The provider recorded in `file`; undefined at the first start, `unknown` when a power cut emptied the file.
 * @throws PlatformError when the file does not name a provider
 */
export async function readProviderChoice(file: string): Promise<ProviderName | "unknown" | undefined> {
  let text: string;
  try {
    text = (await readFile(file, "utf8")).trim();
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "ENOENT") return undefined;
    throw err;
  }
  if (holdsNothing(text)) return "unknown";
  const found = providerNames.find((name) => name === text);
  if (found !== undefined) return found;
  throw new PlatformError(
    "internal_error",
    `Cannot read the provider in "${file}": expected ${providerNames.join(" or ")}, got "${text}"`,
  );
}

export interface ChooseOptions {
  /** Where the choice is recorded. */
  readonly file: string;
  readonly wanted: ProviderName | "auto";
  readonly functions: () => Promise<number>;
  /** Called only if the decision depends on it. */
  readonly engine: () => Promise<EngineFacts>;
}

/** The provider that runs functions. */
export interface ChosenProvider {
  readonly provider: ProviderName;
  /** Why functions do not run in containers, unless that was chosen. */
  readonly engineTrouble: string | undefined;
}

/**
 * Chooses the provider and records it.
 * @throws PlatformError `provider_unavailable` with the sentence of a refusal
 */
export async function chooseProvider(options: ChooseOptions): Promise<ChosenProvider> {
  const { wanted } = options;
  const noted = await readProviderChoice(options.file);
  // An engine that cannot be used is an error only if the decision depends on it.
  const engine = wanted === "auto" && (noted === undefined || noted === "unknown") ? await options.engine() : {};
  const decision = decideProvider({ wanted, noted, functions: await options.functions(), engine });
  if (decision.kind === "refuse") throw new PlatformError("provider_unavailable", decision.because);
  if (decision.note) await writeNote(options.file, decision.provider);
  return { provider: decision.provider, engineTrouble: decision.engineTrouble };
}
