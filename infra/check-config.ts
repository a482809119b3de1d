import { isMapping } from "../runtime/settings/mapping.ts";
import { collectSettings } from "../runtime/settings/read-settings.ts";
import type { Settings, Values } from "../runtime/settings/setting.ts";
import { generalOptions, groupedOptions } from "./manifests/platform-options.ts";
import type { Platform } from "./manifests/platform.ts";
import { checkPlatform, unknownKeys } from "./manifests/read-platform.ts";
import { stackKeys } from "./stack-keys.ts";
import { stackRules } from "./stack-rules.ts";
import { secretsInTheClear, type KeyPath } from "./stack-secrets.ts";
import { stackGroups, stackOptions } from "./stack-options.ts";

/** Of which configuration the keys are: that of project `weir`, whoever runs the program. */
export const configNamespace = "weir";

/** Everything a stack says, checked as a whole. Values that are secret are plain here: who hands them on marks them. */
export interface StackConfig extends Values<typeof stackOptions> {
  readonly platform: Platform;
  readonly natsTls: Values<typeof stackGroups.natsTls>;
  readonly timeouts: Values<typeof stackGroups.timeouts>;
}

/** What is known of how values are kept. */
export interface Keeping {
  /** Whether a value that is secret is encrypted where it comes from; all are when absent. */
  readonly isEncrypted?: (path: KeyPath) => boolean;
  /** Values that are there and cannot be read: what depends on them is not judged. */
  readonly unread?: readonly KeyPath[];
}

/** What a stack of these values, texts or JSON, is: there is a configuration only without problems. */
export function checkConfig(
  given: Readonly<Record<string, unknown>>,
  { isEncrypted = () => true, unread = [] }: Keeping = {},
): { readonly config?: StackConfig; readonly problems: readonly string[] } {
  const input = structuredValues(given);
  const own = [...Object.keys(stackOptions), ...Object.keys(stackGroups)];
  const others = Object.fromEntries(Object.entries(input).filter(([key]) => !own.includes(key)));
  const { platform, problems } = checkPlatform(others, own);
  const options = collectSettings(stackOptions, { file: input }, []);
  const natsTls = readGroup("natsTls", stackGroups.natsTls, input["natsTls"]);
  const timeouts = readGroup("timeouts", stackGroups.timeouts, input["timeouts"]);
  const found = [
    ...problems,
    ...options.problems,
    ...natsTls.problems,
    ...timeouts.problems,
    ...stackRules({
      options: options.values,
      natsTls: natsTls.values,
      nats: collectSettings(groupedOptions.nats, { file: mapping(input["nats"]) }, []).values,
      gateway: collectSettings(groupedOptions.gateway, { file: mapping(input["gateway"]) }, []).values,
      ingress: collectSettings(groupedOptions.ingress, { file: mapping(input["ingress"]) }, []).values,
      httpRoute: collectSettings(groupedOptions.httpRoute, { file: mapping(input["httpRoute"]) }, []).values,
      publicUrl: collectSettings(generalOptions, { file: input }, []).values.publicUrl,
      platform,
    }),
    ...secretsInTheClear(input, isEncrypted),
  ]
    .filter((problem) => !unread.some((path) => isAbout(problem, path)))
    .map((problem) => problem.replace(/ \(settings file\)$/, ""));
  if (platform === undefined || found.length > 0) return { problems: found };
  const groups = { natsTls: natsTls.values, timeouts: timeouts.values };
  return { config: Object.freeze({ ...options.values, ...groups, platform }), problems: found };
}

/** The values, those of groups and lists no longer as JSON, without those that say nothing. */
export function structuredValues(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const said = Object.entries(given).filter(([key, value]) => value !== "" || !mayBeEmpty.includes(key));
  return Object.fromEntries(said.map(([key, value]) => [key, structured(key, value)]));
}

/** The options of a group that only a stack has. */
function readGroup<S extends Settings>(group: string, table: S, content: unknown) {
  const noMapping = content !== undefined && !isMapping(content);
  const { values, problems } = collectSettings(table, { file: mapping(content) }, []);
  const found = [...unknownKeys(mapping(content), Object.keys(table)), ...problems];
  return {
    values,
    problems: [
      ...(noMapping ? [`${group}: expected a mapping of options`] : []),
      ...found.map((problem) => `${group}.${problem}`),
    ],
  };
}

/** Whether it is about the value, about what it is part of, or about a part of it. */
function isAbout(problem: string, path: KeyPath): boolean {
  const key = problem.slice(0, problem.indexOf(":"));
  return `${key}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${key}.`);
}

/** Where an empty text says nothing: `Pulumi.yaml` has one for what may be left out. */
const mayBeEmpty = stackKeys.flatMap(({ key, fallback = "" }) => (fallback === "" ? [key] : []));

/** Texts that may begin with a bracket and mean it. */
const plainTexts: readonly string[] = ["kubeconfig", "adminPassword"];

/** Pulumi hands on objects and lists as JSON, and all else as text. */
function structured(key: string, value: unknown): unknown {
  if (typeof value !== "string" || plainTexts.includes(key) || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function mapping(content: unknown): Readonly<Record<string, unknown>> {
  return isMapping(content) ? content : {};
}
