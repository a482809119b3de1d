import { parseQuantity, quantityScale } from "../../../../core/functions/quantity.ts";
import type { DefaultLimits } from "../../../../core/ports/engine.ts";
import { StartFailure } from "./start-failure.ts";

/** Limits of a container, by the engine's names. */
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

const maxProcesses = 256;
const gpu = "nvidia.com/gpu";
/** The engine accepts nothing smaller. */
const minNanoCpus = 10_000_000n;
const minShares = 2n;
/** The engine accepts nothing greater, so larger requests get this share. */
const maxShares = 262_144;

/**
 * Maps a function's limits and requests to the engine's. A request above a default limit becomes the limit. The engine
 * refuses more processors than the host has, so `cpus` is the most.
 * @throws StartFailure for a device that the docker provider does not support
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
      `Cannot give a container "${unknown}": the docker provider supports ${gpu} alone`,
    );
  }
  const gpus = amount(limits[gpu] ?? requests[gpu], 1n);
  return {
    PidsLimit: maxProcesses,
    // No swap on top of the memory limit.
    ...(memory === undefined ? {} : { Memory: Number(memory), MemorySwap: Number(memory) }),
    ...(reserved === undefined ? {} : { MemoryReservation: Number(reserved) }),
    ...(cpu === undefined ? {} : { NanoCpus: Math.min(Number(larger(cpu, minNanoCpus)), cpus * 1e9) }),
    ...(shares === undefined ? {} : { CpuShares: Math.min(Number(larger(shares, minShares)), maxShares) }),
    ...(gpus === undefined || gpus === 0n
      ? {}
      : { DeviceRequests: [{ Driver: "nvidia", Count: Number(gpus), Capabilities: [["gpu"]] }] }),
  };
}

/** A quantity in units of 1/`perUnit`; undefined when there is none. */
function amount(text: string | undefined, perUnit: bigint): bigint | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity === undefined ? undefined : (quantity * perUnit) / quantityScale;
}

function atLeast(limit: bigint | undefined, requested: bigint | undefined): bigint | undefined {
  return limit === undefined ? undefined : larger(limit, requested ?? 0n);
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
