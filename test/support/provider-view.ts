import type { MemoryEndpoints } from "./memory/memory-endpoints.ts";
import type { FunctionEndpoints } from "../../runtime/core/ports/endpoints.ts";
import { eventually } from "./eventually.ts";
import { fetchReplica } from "./fetch-replica.ts";

/** Waits, at most `within` milliseconds, until the provider publishes an entry that `matches`. */
export async function published(
  endpoints: MemoryEndpoints,
  matches: (entry: FunctionEndpoints) => boolean,
  what: string,
  within: number,
): Promise<FunctionEndpoints> {
  return await eventually(async () => (await endpoints.list()).find(matches), { within, what, every: 5 });
}

/** Waits until `count` replicas of a generation are ready and the function is settled. */
export function settled(endpoints: MemoryEndpoints, count: number, generation: number, within: number) {
  return published(
    endpoints,
    (entry) =>
      entry.addresses.length === count &&
      entry.observedGeneration === generation &&
      entry.conditions.some(({ reason }) => reason === "Settled"),
    `${count} replicas of generation ${generation}`,
    within,
  );
}

/** Calls any of the addresses on a new connection; rejects unless the status is 200. */
export async function callAny(addresses: readonly string[]): Promise<string> {
  const response = await fetchReplica(addresses[Math.floor(Math.random() * addresses.length)]);
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return await response.text();
}
