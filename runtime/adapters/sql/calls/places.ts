import type { CallPlace } from "../../../core/ports/call-history.ts";

export function placeOf({ accepted, id }: CallPlace): CallPlace {
  return { accepted, id };
}

/** The order of lists: newest first. */
export function comparePlaces(one: CallPlace, other: CallPlace): number {
  if (one.accepted !== other.accepted) return other.accepted - one.accepted;
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}
