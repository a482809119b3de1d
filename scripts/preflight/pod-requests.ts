import { measuredQuantity } from "../../runtime/adapters/kubernetes/stores/measured-quantity.ts";
import { quantityScale } from "../../runtime/core/functions/quantity.ts";

/** What pods request and nodes have. */
export interface Room {
  /** Thousandths of a CPU. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

type Amounts = Readonly<Record<string, string>>;

interface Container {
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: Amounts };
}

/** The parts of a pod's spec that are read. */
export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: Amounts;
  /** Of the pod as a whole; takes precedence over those of its containers. */
  readonly resources?: { readonly requests?: Amounts };
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
}

/** A taint that a pod tolerates. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** Amounts of CPU and memory; absent ones are 0. */
export function roomOf({ cpu = "0", memory = "0" }: Amounts): Room {
  return { cpu: inParts(cpu, 1_000n), memory: inParts(memory, 1n) };
}

/**
 * What the scheduler reserves for a pod: the sum of its containers or, if larger, the largest init container with the
 * sidecars started before it.
 */
export function podRequests(spec: PodSpec): Room {
  let sidecars = none;
  let before = none;
  for (const { restartPolicy, resources } of spec.initContainers ?? []) {
    const own = roomOf(resources?.requests ?? {});
    if (restartPolicy === "Always") sidecars = sum([sidecars, own]);
    before = larger(before, restartPolicy === "Always" ? sidecars : sum([sidecars, own]));
  }
  const running = sum([sidecars, ...(spec.containers ?? []).map(({ resources }) => roomOf(resources?.requests ?? {}))]);
  const derived = larger(running, before);
  const whole = spec.resources?.requests ?? {};
  const own = roomOf(whole);
  const cpu = whole["cpu"] === undefined ? derived.cpu : own.cpu;
  const memory = whole["memory"] === undefined ? derived.memory : own.memory;
  return sum([{ cpu, memory }, roomOf(spec.overhead ?? {})]);
}

/** The sum of all. */
export function sum(rooms: readonly Room[]): Room {
  return rooms.reduce((one, other) => ({ cpu: one.cpu + other.cpu, memory: one.memory + other.memory }), none);
}

/** The text for people, e.g. `850m CPU and 1.7Gi`. */
export function roomText({ cpu, memory }: Room): string {
  return `${Math.ceil(cpu)}m CPU and ${memoryText(memory)}`;
}

function memoryText(bytes: number): string {
  const gibibytes = bytes / 2 ** 30;
  return Math.abs(gibibytes) < 1 ? `${Math.ceil(bytes / 2 ** 20)}Mi` : `${gibibytes.toFixed(1)}Gi`;
}

const none: Room = { cpu: 0, memory: 0 };

function larger(one: Room, other: Room): Room {
  return { cpu: Math.max(one.cpu, other.cpu), memory: Math.max(one.memory, other.memory) };
}

/** A quantity in units of 1/`parts`, rounded up. */
function inParts(quantity: string, parts: bigint): number {
  return Number((measuredQuantity(quantity) * parts + quantityScale - 1n) / quantityScale);
}
