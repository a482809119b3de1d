import { measuredQuantity } from "../../runtime/adapters/kubernetes/stores/measured-quantity.ts";
import { quantityScale } from "../../runtime/core/functions/quantity.ts";

/** What pods ask for and nodes have. */
export interface Room {
  /** Thousandths of a processor. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

type Amounts = Readonly<Record<string, string>>;

interface Container {
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: Amounts };
}

/** What is read of a pod's description. */
export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: Amounts;
  /** Of the pod as a whole; goes before those of its containers. */
  readonly resources?: { readonly requests?: Amounts };
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
}

/** A taint that a pod does not mind. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** Amounts of processor and memory; what is not named is none. */
export function roomOf({ cpu = "0", memory = "0" }: Amounts): Room {
  return { cpu: inParts(cpu, 1_000n), memory: inParts(memory, 1n) };
}

/**
 * What the scheduler holds free for a pod: the more of all its containers together and of the largest of those that run
 * before them, with the sidecars started until then.
 */
export function podRequests(spec: PodSpec): Room {
  let sidecars = none;
  let before = none;
  for (const { restartPolicy, resources } of spec.initContainers ?? []) {
    const own = roomOf(resources?.requests ?? {});
    if (restartPolicy === "Always") sidecars = sum([sidecars, own]);
    before = most(before, restartPolicy === "Always" ? sidecars : sum([sidecars, own]));
  }
  const running = sum([sidecars, ...(spec.containers ?? []).map(({ resources }) => roomOf(resources?.requests ?? {}))]);
  const derived = most(running, before);
  const whole = spec.resources?.requests ?? {};
  const own = roomOf(whole);
  const cpu = whole["cpu"] === undefined ? derived.cpu : own.cpu;
  const memory = whole["memory"] === undefined ? derived.memory : own.memory;
  return sum([{ cpu, memory }, roomOf(spec.overhead ?? {})]);
}

/** All of them together. */
export function sum(rooms: readonly Room[]): Room {
  return rooms.reduce((one, other) => ({ cpu: one.cpu + other.cpu, memory: one.memory + other.memory }), none);
}

/** As people read it, e.g. `850m CPU and 1.7Gi`. */
export function roomText({ cpu, memory }: Room): string {
  return `${Math.ceil(cpu)}m CPU and ${memoryText(memory)}`;
}

function memoryText(bytes: number): string {
  const gibibytes = bytes / 2 ** 30;
  return Math.abs(gibibytes) < 1 ? `${Math.ceil(bytes / 2 ** 20)}Mi` : `${gibibytes.toFixed(1)}Gi`;
}

const none: Room = { cpu: 0, memory: 0 };

function most(one: Room, other: Room): Room {
  return { cpu: Math.max(one.cpu, other.cpu), memory: Math.max(one.memory, other.memory) };
}

/** A quantity in so many parts of one, rounded up. */
function inParts(quantity: string, parts: bigint): number {
  return Number((measuredQuantity(quantity) * parts + quantityScale - 1n) / quantityScale);
}
