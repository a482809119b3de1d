import { closestName, settingSpelling } from "../../runtime/api/closest-name.ts";
import { editions } from "../../runtime/api/editions.ts";
import { renamedSettings } from "../../runtime/settings/renamed-settings.ts";
import { isMapping } from "../../runtime/settings/mapping.ts";
import { collectSettings, textOf } from "../../runtime/settings/read-settings.ts";
import type { SettingRule } from "../../runtime/settings/setting-rules.ts";
import type { Settings, Values } from "../../runtime/settings/setting.ts";
import { autoscalerRules, autoscalerSettings } from "../../runtime/autoscaler/settings.ts";
import { gatewayPortRule, gatewayRules, gatewaySettings } from "../../runtime/gateway/settings.ts";
import { historySettings } from "../../runtime/history/settings.ts";
import { operatorRules, operatorSettings } from "../../runtime/operator/settings.ts";
import {
  clusterRule,
  declaredQueues,
  queueDoctorRules,
  queueDoctorSettings,
  storeRule,
} from "../../runtime/queue-doctor/settings.ts";
import { queueWorkerRules, queueWorkerSettings } from "../../runtime/queue-worker/settings.ts";
import { consoleFacts, consoleRules } from "./console.ts";
import { decidedSettings, type Tuning } from "./processes/environment.ts";
import { namesInCluster } from "./egress/egress-proxy.ts";
import { historyRules } from "./history/history-rules.ts";
import { iamRules } from "./iam/iam-rules.ts";
import { generalOptions, groupedOptions, optionTables } from "./platform-options.ts";
import type { Platform } from "./platform.ts";
import { brokerFacts, optionRules } from "./option-rules.ts";
import { readQueueRanges } from "./replicas/queue-ranges.ts";

type Mapping = Readonly<Record<string, unknown>>;

/** All problems with the options of a platform, in one message. */
export class PlatformOptionsError extends Error {
  override readonly name = "PlatformOptionsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Cannot make the platform: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

/** The settings of the processes, by process. */
export const processTables = {
  gatewaySettings,
  queueWorkerSettings,
  queueDoctorSettings,
  autoscalerSettings,
  operatorSettings,
  historySettings,
};
/** Settings of the processes that users may set, by key. */
export const tuningKeys: readonly string[] = [
  ...new Set(
    Object.values<Settings>(processTables)
      .flatMap((table) => Object.keys(table))
      .filter((key) => !(decidedSettings as readonly string[]).includes(key)),
  ),
];

/**
 * Reads what the manifests are built from: options of the platform, and settings of its processes in camelCase, as in a
 * stack or a settings file.
 * @throws PlatformOptionsError with every problem at once, each naming key, value and rule
 */
export function readPlatform(input: Mapping): Platform {
  const { platform, problems } = checkPlatform(input);
  if (platform === undefined) throw new PlatformOptionsError(problems);
  return platform;
}

/**
 * The same without throwing: a platform is returned only if there are no problems. The caller reads the keys in
 * `others`.
 */
export function checkPlatform(
  input: Mapping,
  others: readonly string[] = [],
): {
  readonly platform?: Platform;
  readonly problems: readonly string[];
} {
  const known = [...Object.keys(generalOptions), ...Object.keys(groupedOptions), ...tuningKeys, ...others];
  const problems = unknownKeys(input, known);
  const read = <S extends Settings>(table: S, group: string): Values<S> => {
    const outcome = readGroup(table, group === "" ? input : input[group], group);
    problems.push(...outcome.problems);
    return outcome.values;
  };
  const options = {
    ...read(generalOptions, ""),
    images: read(groupedOptions.images, "images"),
    nats: read(groupedOptions.nats, "nats"),
    gateway: read(groupedOptions.gateway, "gateway"),
    ingress: read(groupedOptions.ingress, "ingress"),
    console: read(groupedOptions.console, "console"),
    httpRoute: read(groupedOptions.httpRoute, "httpRoute"),
    apiServer: read(groupedOptions.apiServer, "apiServer"),
    queueDoctor: read(groupedOptions.queueDoctor, "queueDoctor"),
    autoscaler: read(groupedOptions.autoscaler, "autoscaler"),
    operator: read(groupedOptions.operator, "operator"),
    pods: read(groupedOptions.pods, "pods"),
    parts: read(groupedOptions.parts, "parts"),
    monitoring: read(groupedOptions.monitoring, "monitoring"),
    memory: read(groupedOptions.memory, "memory"),
    cpu: read(groupedOptions.cpu, "cpu"),
    iam: read(groupedOptions.iam, "iam"),
  };
  const { queues: plainQueues, ranges: queueRanges, problems: rangeProblems } = readQueueRanges(input["queues"]);
  problems.push(...rangeProblems);
  const tuning = withNamesInside(tuningOf({ ...input, queues: plainQueues }), options.clusterDomain);
  // Rules compare values: an invalid value would cause misleading problems for others.
  const isRead = problems.length === 0;
  const facts = isRead ? { ...options, ...brokerFacts(options.nats), ...consoleFacts(options.console) } : {};
  const judge = <S extends Settings>(table: S, rules: readonly SettingRule<Values<S>>[]): Values<S> => {
    const outcome = collectSettings(table, { file: fileOf(table, { ...facts, ...tuning }) }, isRead ? rules : []);
    const found = outcome.problems.map(inCamelCase).filter((problem) => isRead || tuningKeys.includes(keyOf(problem)));
    for (const problem of found) if (!problems.includes(problem)) problems.push(problem);
    return outcome.values;
  };
  const settings = {
    gateway: judge(gatewaySettings, [...gatewayRules, gatewayPortRule]),
    queueWorker: judge(queueWorkerSettings, queueWorkerRules),
    queueDoctor: judge(queueDoctorSettings, [...queueDoctorRules, storeRule, clusterRule]),
    autoscaler: judge(autoscalerSettings, autoscalerRules),
    operator: judge(operatorSettings, operatorRules),
    history: judge(historySettings, []),
  };
  if (isRead) problems.push(...optionRules(options), ...consoleRules(options), ...iamRules(options));
  // Its rules compare settings, too.
  if (problems.length === 0) problems.push(...historyRules({ ...options, settings }));
  if (problems.length > 0) return { problems };
  const queues = declaredQueues(settings.queueDoctor);
  const { namespaces, iam: hasIam } = editions[options.edition];
  const manyNamespaces = namespaces === "many";
  return {
    platform: Object.freeze({ ...options, tuning, settings, queues, queueRanges, manyNamespaces, hasIam }),
    problems,
  };
}

/** Defaults for a cluster that differ from the settings' own: callbacks only go to public addresses. */
export const tuningDefaults: Readonly<Record<string, string>> = { callbackPolicy: "public" };

function tuningOf(input: Mapping): Tuning {
  const given = Object.entries(input).filter(([key, value]) => tuningKeys.includes(key) && value !== undefined);
  return { ...tuningDefaults, ...Object.fromEntries(given) };
}

/** Names in the cluster are reached without a proxy. */
function withNamesInside(tuning: Tuning, clusterDomain: string): Tuning {
  if (tuning.egressProxy === undefined) return tuning;
  const own = textOf(tuning.egressNoProxy);
  const inside = namesInCluster(clusterDomain).join(",");
  return { ...tuning, egressNoProxy: own === undefined || own === "" ? inside : `${own},${inside}` };
}

function readGroup<S extends Settings>(table: S, content: unknown, group: string) {
  const mapping = content ?? {};
  const prefix = group === "" ? "" : `${group}.`;
  if (!isMapping(mapping)) return { values: {} as Values<S>, problems: [`${group}: expected a mapping of options`] };
  const { values, problems } = collectSettings(table, { file: mapping }, []);
  const unknown = group === "" ? [] : unknownKeys(mapping, Object.keys(optionTables[group] ?? {}));
  return { values, problems: [...unknown, ...problems].map((problem) => prefix + problem) };
}

/** Problems with unknown keys. */
export function unknownKeys(mapping: Mapping, known: readonly string[]): string[] {
  return Object.keys(mapping)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const spelling = closestName(key, known.map(settingSpelling), 2);
      const near = known.find((name) => settingSpelling(name) === spelling);
      const newName = renamedSettings.get(settingSpelling(key));
      if (newName !== undefined)
        return `${key} is now ${known.find((name) => settingSpelling(name) === newName) ?? newName}`;
      const decided = (decidedSettings as readonly string[]).includes(key);
      if (decided) return `${key}: the platform decides it, it cannot be set`;
      return `${key}: no such option${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
}

/** The values of a process's table by their names in its settings file. */
function fileOf(table: Settings, values: object): Mapping {
  const given = new Map<string, unknown>(Object.entries(values));
  return Object.fromEntries(Object.entries(table).map(([key, { name }]) => [name, given.get(key)]));
}

/** The option that a problem is about. */
function keyOf(problem: string): string {
  return /^\w+/.exec(problem)?.[0] ?? "";
}

/** The problem with the name that the option has here. */
function inCamelCase(problem: string): string {
  return problem
    .replace(/^[a-z_]+/, (name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .replace(/^maxFileStore:/, "nats.storage (70 % of it, in bytes):")
    .replace(/^console(Port|Origins):/, (_, option: string) => `console.${option.toLowerCase()}:`);
}
