import { isMapping } from "../runtime/settings/mapping.ts";
import { collectSettings } from "../runtime/settings/read-settings.ts";
import type { Settings, Values } from "../runtime/settings/setting.ts";
import { unreadDatabase } from "./manifests/history/database-address.ts";
import { generalOptions, groupedOptions } from "./manifests/platform-options.ts";
import type { Platform } from "./manifests/platform.ts";
import { checkPlatform, unknownKeys } from "./manifests/read-platform.ts";
import { stackKeys } from "./stack-keys.ts";
import { stackRules } from "./stack-rules.ts";
import { clientSecretPrefix, secretsInTheClear, type KeyPath } from "./stack-secrets.ts";
import { stackGroups, stackOptions } from "./stack-options.ts";

/** The namespace of the keys: that of project `weir`, whichever project runs the program. */
export const configNamespace = "weir";

/** Everything a stack says, checked as a whole. Secret values are not marked here; the caller marks them. */
export interface StackConfig extends Values<typeof stackOptions> {
  readonly platform: Platform;
  readonly natsTls: Values<typeof stackGroups.natsTls>;
  readonly timeouts: Values<typeof stackGroups.timeouts>;
}

/** Facts about how values are stored. */
export interface Keeping {
  /** Whether a secret value is encrypted in its source; all are when absent. */
  readonly isEncrypted?: (path: KeyPath) => boolean;
  /** Values that exist but cannot be read: what depends on them is not checked. */
  readonly unread?: readonly KeyPath[];
}

/** Checks the values of a stack, texts or JSON; returns a configuration only if there are no problems. */
export function checkConfig(
  given: Readonly<Record<string, unknown>>,
  { isEncrypted = () => true, unread = [] }: Keeping = {},
): { readonly config?: StackConfig; readonly problems: readonly string[] } {
  const input = withDatabase(withClientNames(structuredValues(given), unread), unread);
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

/** The values, with the JSON of groups and lists parsed, without those that are empty. */
export function structuredValues(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(given).filter(([key, value]) => value !== "" || !mayBeEmpty.includes(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, structured(key, value)]));
}

/** With the names of client secrets whose values cannot be read: what is created depends on the names alone. */
function withClientNames(
  input: Readonly<Record<string, unknown>>,
  unread: readonly KeyPath[],
): Readonly<Record<string, unknown>> {
  const names = unread.flatMap((path) =>
    path.startsWith(clientSecretPrefix) ? [path.slice(clientSecretPrefix.length)] : [],
  );
  if (names.length === 0) return input;
  const iam = mapping(input["iam"]);
  const unknown = Object.fromEntries(names.map((name) => [name, null]));
  return { ...input, iam: { ...iam, clientSecrets: { ...unknown, ...mapping(iam["clientSecrets"]) } } };
}

/** With a database whose address cannot be read: what is created depends on whether there is one. */
function withDatabase(
  input: Readonly<Record<string, unknown>>,
  unread: readonly KeyPath[],
): Readonly<Record<string, unknown>> {
  return unread.includes("historyDatabase") ? { ...input, historyDatabase: unreadDatabase } : input;
}

/** Reads the options of a group that only a stack has. */
function readGroup<S extends Settings>(group: string, table: S, content: unknown) {
  const isNotMapping = content !== undefined && !isMapping(content);
  const { values, problems } = collectSettings(table, { file: mapping(content) }, []);
  const found = [...unknownKeys(mapping(content), Object.keys(table)), ...problems];
  return {
    values,
    problems: [
      ...(isNotMapping ? [`${group}: expected a mapping of options`] : []),
      ...found.map((problem) => `${group}.${problem}`),
    ],
  };
}

/** Whether the problem is about the value, about the group it is part of, or about a part of it. */
function isAbout(problem: string, path: KeyPath): boolean {
  const key = problem.slice(0, problem.indexOf(":"));
  return `${key}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${key}.`);
}

/** Keys for which an empty text means "not set": `Pulumi.yaml` has one for each key that may be left out. */
const mayBeEmpty = stackKeys.flatMap(({ key, fallback = "" }) => (fallback === "" ? [key] : []));

/** Keys whose text may begin with a bracket without being JSON. */
const textKeys: readonly string[] = ["kubeconfig", "adminPassword"];

/** Pulumi passes objects and lists as JSON, and everything else as text. */
function structured(key: string, value: unknown): unknown {
  if (typeof value !== "string" || textKeys.includes(key) || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function mapping(content: unknown): Readonly<Record<string, unknown>> {
  return isMapping(content) ? content : {};
}
