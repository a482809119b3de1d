import { permittedAnywhere } from "../../core/access/permitted-anywhere.ts";
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
export function allowedActions(principal: Principal): readonly string[] {
  return routeActions.filter((action) => permittedAnywhere(principal, action));
}
