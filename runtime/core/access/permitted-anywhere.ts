import { namesAction } from "./decide-access.ts";
import type { Principal } from "./principal.ts";

/** Whether a principal may do `action` to anything at all: a list of it may be shown, as far as it goes. */
export function permittedAnywhere({ grants }: Principal, action: string): boolean {
  return (
    grants === "everything" ||
    grants.allowed.some(({ actions }) => actions.some((listed) => namesAction(listed, action)))
  );
}
