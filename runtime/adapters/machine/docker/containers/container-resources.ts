import { parseQuantity, quantityScale } from "../../../../core/functions/quantity.ts";
import type { DefaultLimits } from "../../../../core/ports/engine.ts";
import { StartFailure } from "./start-failure.ts";

/** Limits of a container by the engine's names. */
export interface ContainerResources {
  readonly PidsLimit: number;
  readonly Memory?: number;
  readonly MemorySwap?: number;
  readonly MemoryReservation?: number;
  readonly NanoCpus?: number;
  readonly CpuShares?: number;
  readonly DeviceRequests?: readonly object[];
}

type Quantities = Readonly<Record<string, string>>;

const mostProcesses = 256;
const gpu = "nvidia.com/gpu";
/** The engine takes nothing smaller. */
const leastNanoCpus = 10_000_000n;
const leastShares = 2n;
/** Nor anything greater: a share of more is the same share. */
const mostShares = 262_144;

/**
 * What the engine is told of limits and requests. What a function asks for beyond a default limit is its limit then. The engine
 * refuses more processors than there are: `cpus` is the most.
 * @throws StartFailure for a device that only other providers know
 */
export function containerResources(
  limits: Quantities,
  requests: Quantities,
  defaults: DefaultLimits,
  cpus: number,
): ContainerResources {
  const reserved = amount(requests["memory"], 1n);
  const shares = amount(requests["cpu"], 1_024n);
  const memory = amount(limits["memory"], 1n) ?? atLeast(amount(defaults.memory, 1n), reserved);
  const cpu =
    amount(limits["cpu"], 1_000_000_000n) ??
    atLeast(amount(defaults.cpu, 1_000_000_000n), amount(requests["cpu"], 1_000_000_000n));
  const devices = Object.keys({ ...limits, ...requests }).filter((key) => key.includes("/"));
  const unknown = devices.find((key) => key !== gpu);
  if (unknown !== undefined) {
    throw new StartFailure(
      "UnknownDevice",
      `Cannot give a container "${unknown}": the docker provider knows ${gpu} alone`,
    );
  }
  const gpus = amount(limits[gpu] ?? requests[gpu], 1n);
  return {
    PidsLimit: mostProcesses,
    // No swap on top: a limit is a limit.
    ...(memory === undefined ? {} : { Memory: Number(memory), MemorySwap: Number(memory) }),
    ...(reserved === undefined ? {} : { MemoryReservation: Number(reserved) }),
    ...(cpu === undefined ? {} : { NanoCpus: Math.min(Number(most(cpu, leastNanoCpus)), cpus * 1e9) }),
    ...(shares === undefined ? {} : { CpuShares: Math.min(Number(most(shares, leastShares)), mostShares) }),
    ...(gpus === undefined || gpus === 0n
      ? {}
      : { DeviceRequests: [{ Driver: "nvidia", Count: Number(gpus), Capabilities: [["gpu"]] }] }),
  };
}

/** A quantity in parts of which `perUnit` make one; undefined when there is none. */
function amount(text: string | undefined, perUnit: bigint): bigint | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity === undefined ? undefined : (quantity * perUnit) / quantityScale;
}

function atLeast(limit: bigint | undefined, asked: bigint | undefined): bigint | undefined {
  return limit === undefined ? undefined : most(limit, asked ?? 0n);
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
