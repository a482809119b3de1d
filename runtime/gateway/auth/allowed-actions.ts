import { namesAction } from "../../core/access/decide-access.ts";
import type { Principal } from "../../core/access/principal.ts";
import { routeTable } from "../rest/route-table.ts";

/** Every action that a route needs, sorted. */
const routeActions: readonly string[] = [
  ...new Set(
    routeTable.flatMap(({ needs, orNeeds }) => [needs, orNeeds]).filter((each) => each?.includes(":") === true),
  ),
]
  .flatMap((action) => action ?? [])
  .toSorted();

/** The actions that a principal may do to anything at all, for pages that show only what may work. */
export function allowedActions({ grants }: Principal): readonly string[] {
  if (grants === "everything") return routeActions;
  return routeActions.filter((action) =>
    grants.allowed.some(({ actions }) => actions.some((listed) => namesAction(listed, action))),
  );
}
