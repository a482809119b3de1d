import type { RollupColumns } from "../../../../api/schemas/history/rollups.ts";

/**
 * Replicas by interval, as far as they are known: counted in it, or what the last change before its end made of them.
 * Nothing is known before the first of both.
 */
export function knownReplicas(
  { replicas, scalings }: Pick<RollupColumns, "replicas" | "scalings">,
  times: readonly number[],
  step: number,
): readonly (number | null)[] {
  const changes = scalings.map(({ at, to }) => ({ at: Date.parse(at), to })).sort((one, other) => one.at - other.at);
  let next = 0;
  let last: number | null = null;
  return times.map((time, index) => {
    for (; next < changes.length && (changes[next]?.at ?? 0) < time + step; next++) last = changes[next]?.to ?? last;
    last = replicas[index] ?? last;
    return last;
  });
}
