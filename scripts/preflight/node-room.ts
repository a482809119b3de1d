import type { Node } from "./check-nodes.ts";
import type { PlannedPod } from "./platform-requests.ts";
import { podRequests, roomOf, type PodSpec, type Room, type Toleration } from "./pod-requests.ts";

/** The parts of an existing pod that are read. */
export interface RunningPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: PodSpec & { readonly nodeName?: string };
}

/** A node, and its free resources for pods. */
export interface NodeRoom {
  readonly node: Node;
  readonly cpu: number;
  readonly memory: number;
  /** How many more pods fit. */
  readonly pods: number;
}

/** What each node has left besides its existing pods. */
export function nodeRooms(nodes: readonly Node[], pods: readonly RunningPod[]): NodeRoom[] {
  return nodes.map((node) => {
    const own = pods.filter(({ spec }) => spec?.nodeName === node.metadata.name);
    const free = own.reduce((room, { spec = {} }) => without(room, podRequests(spec)), {
      ...roomOf(node.status?.allocatable ?? {}),
      pods: Number(node.status?.allocatable?.["pods"] ?? 110),
    });
    return { node, ...free };
  });
}

/**
 * Places pods on nodes, the largest first, each where most is left; returns those that do not fit, and what is left.
 * Pods that do not fit in this order do not fit in the order of their creation.
 */
export function place(
  pods: readonly PlannedPod[],
  rooms: readonly NodeRoom[],
): { readonly homeless: readonly PlannedPod[]; readonly left: readonly NodeRoom[] } {
  const left = [...rooms];
  const homeless: PlannedPod[] = [];
  for (const pod of pods.toSorted((a, b) => b.requests.memory - a.requests.memory || b.requests.cpu - a.requests.cpu)) {
    const fitting = left.filter((room) => mayRun(pod.spec, room.node) && hasRoom(room, pod.requests));
    const best = fitting.toSorted((a, b) => b.memory - a.memory || b.cpu - a.cpu)[0];
    if (best === undefined) homeless.push(pod);
    else left[left.indexOf(best)] = { node: best.node, ...without(best, pod.requests) };
  }
  return { homeless, left };
}

/** Whether the scheduler may put a pod on this node at all. */
export function mayRun({ nodeSelector = {}, tolerations = [] }: PodSpec, { metadata, spec, status }: Node): boolean {
  const isReady = status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true;
  const labels = metadata.labels ?? {};
  return (
    isReady &&
    spec?.unschedulable !== true &&
    Object.entries(nodeSelector).every(([key, value]) => labels[key] === value) &&
    (spec?.taints ?? []).every((taint) => taint.effect === "PreferNoSchedule" || isTolerated(taint, tolerations))
  );
}

function isTolerated(taint: { key: string; value?: string; effect: string }, tolerations: readonly Toleration[]) {
  return tolerations.some(
    ({ key, operator = "Equal", value = "", effect }) =>
      (effect === undefined || effect === taint.effect) &&
      (key === undefined ? operator === "Exists" : key === taint.key) &&
      (operator === "Exists" || value === (taint.value ?? "")),
  );
}

function hasRoom(room: NodeRoom, { cpu, memory }: Room): boolean {
  return room.cpu >= cpu && room.memory >= memory && room.pods >= 1;
}

function without(room: Omit<NodeRoom, "node">, { cpu, memory }: Room) {
  return { cpu: room.cpu - cpu, memory: room.memory - memory, pods: room.pods - 1 };
}
