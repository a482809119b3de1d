import { readFile, rename, writeFile } from "node:fs/promises";

import { PlatformError } from "../api/platform-error.ts";

/** How functions are run on one machine. */
export type ProviderName = "local" | "docker";

const providerNames: readonly ProviderName[] = ["local", "docker"];

export interface ProviderFacts {
  /** The setting. */
  readonly wanted: ProviderName | "auto";
  /** Chosen at an earlier start in this data directory. */
  readonly noted: ProviderName | undefined;
  /** Functions that are deployed now. */
  readonly functions: number;
  /** Whether a container engine answers. */
  readonly engineAnswers: boolean;
}

/** What to use, and whether to note it; or a sentence why not. */
export type ProviderDecision =
  | { readonly kind: "use"; readonly provider: ProviderName; readonly note: boolean }
  | { readonly kind: "refuse"; readonly because: string };

/**
 * `auto` keeps to what was chosen first and never falls back; another one can be named only while there are no
 * functions.
 */
export function decideProvider(facts: ProviderFacts): ProviderDecision {
  const { wanted, noted, functions } = facts;
  const provider = wanted === "auto" ? (noted ?? firstChoice(facts)) : wanted;
  if (noted !== undefined && noted !== provider && functions > 0) {
    const those = functions === 1 ? "1 function was" : `${functions} functions were`;
    const way = `start with --provider ${noted}, delete them, and start again; or choose another directory with --data`;
    return {
      kind: "refuse",
      because: `Cannot use provider "${provider}": ${those} deployed with provider "${noted}"; ${way}`,
    };
  }
  return { kind: "use", provider, note: noted !== provider };
}

function firstChoice(facts: ProviderFacts): ProviderName {
  return facts.engineAnswers ? "docker" : "local";
}

/**
 * The provider noted in `file`; undefined at the first start.
 * @throws PlatformError when the file names none
 */
export async function readProviderChoice(file: string): Promise<ProviderName | undefined> {
  let text: string;
  try {
    text = (await readFile(file, "utf8")).trim();
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "ENOENT") return undefined;
    throw err;
  }
  const found = providerNames.find((name) => name === text);
  if (found !== undefined) return found;
  throw new PlatformError(
    "internal_error",
    `Cannot read the provider in "${file}": expected ${providerNames.join(" or ")}, got "${text}"`,
  );
}

/** Notes the provider; a crash leaves the old note. */
export async function writeProviderChoice(file: string, provider: ProviderName): Promise<void> {
  await writeFile(`${file}.new`, `${provider}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

export interface ChooseOptions {
  /** Where the choice is noted. */
  readonly file: string;
  readonly wanted: ProviderName | "auto";
  readonly functions: () => Promise<number>;
  readonly engineAnswers: () => Promise<boolean>;
}

/**
 * Chooses the provider and notes it.
 * @throws PlatformError `provider_unavailable` with the sentence of a refusal
 */
export async function chooseProvider(options: ChooseOptions): Promise<ProviderName> {
  const { wanted } = options;
  const noted = await readProviderChoice(options.file);
  // Where it decides nothing, an engine that cannot be used is no error.
  const engineAnswers = wanted === "auto" && noted === undefined && (await options.engineAnswers());
  const decision = decideProvider({ wanted, noted, functions: await options.functions(), engineAnswers });
  if (decision.kind === "refuse") throw new PlatformError("provider_unavailable", decision.because);
  if (decision.note) await writeProviderChoice(options.file, decision.provider);
  return decision.provider;
}
