import { PlatformError } from "../../api/platform-error.ts";
import type { AccessRequest } from "../../core/access/decide-access.ts";
import { permitted, type Principal } from "../../core/access/principal.ts";
import { printable } from "../../core/printable.ts";
import { quote } from "../../core/quote.ts";
import type { StatementOrigin } from "./access-observer.ts";

/** What an action does, by its verb; a kind may have words of its own. */
const verbs: Readonly<Record<string, string>> = {
  Logs: "read the logs of",
  Invoke: "call",
  Get: "show",
  Payload: "read the payloads of",
};
/** Actions that are said in words of their own. */
const sentences: Readonly<Record<string, string>> = {
  "Queue:List": "list the queues",
  "Queue:Get": "look into a queue",
  "Queue:Redrive": "redrive a call",
  "Queue:Delete": "delete a dead letter",
  "Session:List": "list the sessions",
  "Session:Delete": "end a session",
  "System:Info": "describe this platform",
  "System:Doctor": "check this platform",
  "System:Simulate": "simulate a decision",
  "System:Audit": "read the audit",
};

/** Of valid names, in characters. */
const longestResource = 127;

/** No policy allows what a request asks for. */
export class AccessDenied extends PlatformError {
  readonly principal: Principal;
  readonly request: AccessRequest;
  /** The statement of a role that only reports which would have allowed it. */
  readonly reported: StatementOrigin | undefined;

  constructor(principal: Principal, request: AccessRequest, reported?: StatementOrigin, because?: string) {
    const { action, resource } = request;
    const shown = printable(resource.slice(0, longestResource));
    const why = because ?? `${nameOf(principal)} has no policy that allows ${action} on ${shown}`;
    super("forbidden", `Cannot ${whatItDoes(request)}: ${why}`);
    this.principal = principal;
    this.request = request;
    this.reported = reported;
  }
}

/**
 * Returns the statement that allows the request.
 * @throws AccessDenied when none does
 */
export function requireAccess(principal: Principal, request: AccessRequest): StatementOrigin {
  const decision = permitted(principal, request);
  if (decision.allowed) return decision.by;
  throw new AccessDenied(principal, request, decision.reported);
}

/** Who it is, for sentences: subject and issuer, after the name if there is one. */
export function nameOf({ name, subject, issuer }: Principal): string {
  const known = issuer === undefined ? subject : `${subject} (${issuer})`;
  return printable(name === undefined ? known : `${name}, ${known}`);
}

/** The request in words, e.g. `delete function "pay" in "dev"`. */
function whatItDoes({ action, resource }: AccessRequest): string {
  const known = sentences[action];
  if (known !== undefined) return known;
  const [kind = "", verb = ""] = action.split(":");
  const does = verbs[verb] ?? verb.toLowerCase();
  const noun = kind.toLowerCase();
  const [namespace = "", name] = resource.split(":");
  if (name === undefined) return `${does} ${noun}s`;
  if (kind === "Namespace") return `${does} namespace ${quote(namespace)}`;
  if (name === "*") return `${does} ${noun}s in ${quote(namespace)}`;
  const thing = kind === "Call" ? "calls of function" : noun;
  return `${does} ${thing} ${quote(name)} in ${quote(namespace)}`;
}
