import { nothingListens } from "../../../../core/replicas/probe-fault.ts";
import { parseQuantity, quantityScale } from "../../../../core/functions/quantity.ts";
import { quote } from "../../../../core/quote.ts";
import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import { replicaEndFailure } from "../../../../core/replicas/replica-end.ts";
import { parseTaggedLine } from "../../../../core/replicas/tagged-line.ts";
import type { Probe } from "../object-types.ts";
import type { ContainerState, ObservedPod } from "./observed-objects.ts";

/** What keeps one pod from being ready. */
export interface PodFailure {
  readonly failure: ReplicaFailure;
  /** Attempts that failed in a row. */
  readonly failures: number;
  /** Whether the next attempt comes only after a pause. */
  readonly pauses: boolean;
}

type ContainerStatus = NonNullable<NonNullable<ObservedPod["status"]>["containerStatuses"]>[number];
type Ended = NonNullable<ContainerState["terminated"]>;

const longestMessage = 1_000;
const imageReasons: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ErrImageNeverPull",
  "ImagePullBackOff",
  "ImageInspectError",
  "InvalidImageName",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);
/** Reasons to wait of a container that is just starting. */
const startReasons: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);
/** What the kubelet puts before the message of the failed pull. */
const backOffWords = /^Back-off pulling image "[^"]*": (?:ErrImagePull: )?/;
const healthyAfter = 60_000;
/** Failures in a row after which a function is stalled, see `functionConditions`. */
const stalledFailures = 2;

/** Why no node accepts the pod, if that is so. */
export function placementFailure({ metadata, status }: ObservedPod): ReplicaFailure | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  const message = cut(`Cannot place replica ${metadata.name} on a node: ${scheduled.message ?? ""}`);
  return { reason: "Unschedulable", message };
}

/** The container of a function, as it is wanted. */
export interface WantedContainer {
  readonly name: string;
  readonly image: string;
  readonly readinessProbe: Probe | undefined;
  /** Whether it states a memory limit. */
  readonly limitsMemory: boolean;
}

/** What went wrong with the function's container in a pod that is not ready; `now` in Unix milliseconds. */
export function podFailure(pod: ObservedPod, wanted: WantedContainer, now: number): PodFailure | undefined {
  const container = pod.status?.containerStatuses?.find(({ name }) => name === wanted.name);
  if (container === undefined) return undefined;
  const { waiting, terminated } = container.state ?? {};
  const ended = terminated ?? container.lastState?.terminated;
  if (waiting?.reason !== undefined && !startReasons.has(waiting.reason) && waiting.reason !== "CrashLoopBackOff") {
    const failure = waitingFailure(pod.metadata.name, waiting.reason, waiting.message ?? "", wanted.image);
    return { failure, failures: stalledFailures, pauses: true };
  }
  const unready = probeFailure(pod, container, wanted.readinessProbe, now);
  if (unready !== undefined) return { failure: unready, failures: 1, pauses: false };
  if (ended === undefined) return undefined;
  const ends = container.restartCount + (container.state?.running === undefined ? 1 : 0);
  return {
    failure: endFailure(pod, container, ended, wanted),
    failures: isLong(ended) ? 1 : ends,
    pauses: waiting?.reason === "CrashLoopBackOff",
  };
}

/** Whether it ran long enough to show that it works: earlier failures no longer count. */
function isLong({ startedAt, finishedAt }: Ended): boolean {
  return Date.parse(finishedAt ?? "") - Date.parse(startedAt ?? "") >= healthyAfter;
}

function waitingFailure(pod: string, reason: string, message: string, image: string): ReplicaFailure {
  const words = message.replace(backOffWords, "");
  if (!imageReasons.has(reason)) return { reason, message: cut(`Cannot start replica ${pod}: ${words}`) };
  const verb = reason === "InvalidImageName" ? "use" : "pull";
  return { reason, message: cut(`Cannot ${verb} image ${quote(image)}: ${words}`) };
}

function endFailure(
  pod: ObservedPod,
  container: ContainerStatus,
  ended: Ended,
  { limitsMemory }: WantedContainer,
): ReplicaFailure {
  const id = pod.metadata.name;
  if (ended.reason === "StartError" || ended.reason === "ContainerCannotRun") {
    return { reason: "CannotRun", message: cut(`Cannot run replica ${id}: ${ended.message ?? "no reason is given"}`) };
  }
  const limits = pod.spec?.containers?.find(({ name }) => name === container.name)?.resources?.limits;
  const memory = parseQuantity(limits?.["memory"] ?? "") ?? 0n;
  const end = {
    outOfMemory: ended.reason === "OOMKilled",
    code: ended.exitCode,
    words: "",
    memoryLimit: Number(memory / quantityScale),
    isDefaultLimit: !limitsMemory,
  };
  const lines = (ended.message ?? "").split("\n").map((line) => parseTaggedLine(line).text);
  return replicaEndFailure(id, end, lines);
}

/** The failure when it has run for longer than its probe allows, and is not ready. */
function probeFailure(
  { metadata }: ObservedPod,
  { state, ready }: ContainerStatus,
  probe: Probe | undefined,
  now: number,
): ReplicaFailure | undefined {
  const since = Date.parse(state?.running?.startedAt ?? "");
  if (probe === undefined || ready === true || Number.isNaN(since)) return undefined;
  const probeSeconds =
    (probe.initialDelaySeconds ?? 0) + probe.failureThreshold * probe.periodSeconds + probe.timeoutSeconds;
  if (now < since + probeSeconds * 1_000) return undefined;
  const port = probe.httpGet?.port ?? probe.tcpSocket?.port ?? 0;
  const why =
    probe.httpGet === undefined
      ? nothingListens(port, "$PORT")
      : `GET ${probe.httpGet.path} on port ${port} is not answered with 200 to 399`;
  return { reason: "Unhealthy", message: `Replica ${metadata.name} is not ready: ${why}` };
}

function cut(message: string): string {
  return message.slice(0, longestMessage);
}
