import { formatDuration, parseDuration } from "../../../api/duration.ts";
import { editionNames, editions, type Edition } from "../../../api/editions.ts";
import { annotation, defaultQueue, keyPrefixes } from "../../../api/names.ts";
import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import { annotationKey, expectedOf } from "../../../api/schemas/key-rules.ts";

/** What the gateway says, as far as a deployment depends on it. */
export interface GatewayFacts {
  /** As `/system/info` shows it; an unknown one is taken to allow everything. */
  readonly edition: string;
  /** Names of the secrets in the function's namespace. */
  readonly secrets: ReadonlySet<string>;
  /** Longest run of a queue, milliseconds; undefined if the gateway does not say. */
  readonly queueTimeout: (queue: string) => number | undefined;
}

/** Why the gateway would refuse a deployment, as the state in an error sentence, and the command that helps. */
interface DeploymentFault {
  readonly state: string;
  readonly hint?: string;
}

/** Times that a deployment sets, milliseconds; undefined = it does not, or not so that it can be read. */
interface OwnTimes {
  readonly timeout: number | undefined;
  readonly exec: number | undefined;
}

const timeoutKey = keyPrefixes[0] + annotation.timeout;

/** See {@link DeploymentFault}; what a function needs and this gateway does not have. */
export function deploymentFaults(deployment: FunctionDeployment, facts: GatewayFacts): readonly DeploymentFault[] {
  return [...secretFaults(deployment, facts), ...editionFaults(deployment, facts), ...timeFaults(deployment, facts)];
}

/** The queue of its asynchronous calls. */
export function queueOf(deployment: FunctionDeployment): string {
  return valueOf(deployment, annotation.queue) ?? defaultQueue;
}

/** Whether `exec_timeout` is above the function's own timeout, so that it needs a queue with a longer one. */
export function needsLongQueue(deployment: FunctionDeployment): boolean {
  const { timeout, exec } = ownTimes(deployment);
  return timeout !== undefined && exec !== undefined && exec > timeout;
}

function secretFaults(
  { secrets = [], namespace }: FunctionDeployment,
  { secrets: there }: GatewayFacts,
): readonly DeploymentFault[] {
  const [where, flag] =
    namespace === undefined ? ["the default namespace", ""] : [`namespace "${namespace}"`, ` -n ${namespace}`];
  return secrets
    .filter((name) => !there.has(name))
    .map((name) => ({
      state: `secret "${name}" does not exist in ${where}`,
      hint: `weir secrets create ${name}${flag} --from-file <file>`,
    }));
}

function editionFaults(deployment: FunctionDeployment, { edition }: GatewayFacts): readonly DeploymentFault[] {
  const queue = queueOf(deployment);
  const known = editionNames.find((name) => name === edition);
  if (known === undefined || queue === defaultQueue || hasQueues(known)) return [];
  const needed = editionNames.find(hasQueues) ?? known;
  return [{ state: `queue "${queue}" needs edition "${needed}", and this is "${edition}"` }];
}

function hasQueues(edition: Edition): boolean {
  return editions[edition].queues === "named";
}

function timeFaults(deployment: FunctionDeployment, { queueTimeout }: GatewayFacts): readonly DeploymentFault[] {
  const [timeoutText, execText] = [valueOf(deployment, annotation.timeout), deployment.envVars?.["exec_timeout"]];
  if (timeoutText !== undefined && timeoutText !== "" && annotationKey.timeout.parse(timeoutText) === undefined)
    return [{ state: `${timeoutKey} "${timeoutText}" is not ${expectedOf(annotationKey.timeout)}` }];
  if (execText !== undefined && execText !== "" && parseDuration(execText) === undefined)
    return [{ state: `exec_timeout "${execText}" is not a duration such as 30s` }];
  const { timeout, exec } = ownTimes(deployment);
  const queue = queueOf(deployment);
  const longest = queueTimeout(queue);
  if (timeout === undefined || exec === undefined || longest === undefined || exec <= Math.max(timeout, longest))
    return [];
  const limits = `${timeoutKey} (${formatDuration(timeout)}) and the timeout of queue "${queue}" (${formatDuration(longest)})`;
  const [asked, key] = [formatDuration(exec), timeoutKey];
  return [{ state: `exec_timeout ${asked} is above ${limits}; set annotation ${key} to ${asked} or more` }];
}

function ownTimes(deployment: FunctionDeployment): OwnTimes {
  const exec = parseDuration(deployment.envVars?.["exec_timeout"] ?? "");
  return { timeout: parseDuration(valueOf(deployment, annotation.timeout) ?? ""), exec: exec === 0 ? undefined : exec };
}

function valueOf({ annotations = {} }: FunctionDeployment, name: string): string | undefined {
  const prefix = keyPrefixes.find((each) => Object.hasOwn(annotations, each + name));
  return prefix === undefined ? undefined : annotations[prefix + name];
}
