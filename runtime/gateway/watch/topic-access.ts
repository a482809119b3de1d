import { permittedWithin, type Principal } from "../../core/access/principal.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { realNamespace, type NamespaceRules } from "../../core/namespaces/namespace-rules.ts";
import type { WatchTopic } from "../../core/watch/watch-topic.ts";
import { AccessDenied, requireAccess } from "../access/access-denied.ts";
import { listAction, resourceOf } from "../access/function-callers.ts";
import { listCallsAction } from "../rest/routes/history/call-list.ts";
import { logsAction } from "../rest/routes/history/call-logs.ts";
import { getCallAction } from "../rest/routes/history/permitted-call.ts";
import { requireAnywhere, requireWithin, seesAll } from "../rest/routes/history/visible-functions.ts";
import { parseCallsTopic } from "./feeds/calls-topic.ts";

/** The function that a topic names. */
export function realRef({ namespace, name }: FunctionRef, names: NamespaceRules): FunctionRef {
  return { namespace: realNamespace(namespace, names), name };
}

/**
 * Returns if a sender may read the list that a topic shows.
 * @throws AccessDenied otherwise, PlatformError `validation_failed` when its filter cannot be read
 */
export function requireTopic(principal: Principal, topic: WatchTopic, namespaces: NamespaceRules): void {
  switch (topic.kind) {
    case "functions":
      return requireList(principal, topic.namespace, namespaces);
    case "function":
      return requireOn(principal, "Function:Get", topic.ref, namespaces);
    case "log":
      return requireOn(principal, logsAction, topic.ref, namespaces);
    case "queues":
      return void requireAccess(principal, { action: "Queue:List", resource: "*" });
    case "doctor":
      return void requireAccess(principal, { action: "System:Doctor", resource: "*" });
    case "calls":
      return requireWithin(principal, listCallsAction, parseCallsTopic(topic.parameters, { namespaces }).filter);
    case "call":
      return requireAnywhere(principal, getCallAction);
    default:
      return topic satisfies never;
  }
}

/** Why a sender may not read a topic; undefined if they may. */
export function deniedTopic(
  principal: Principal,
  topic: WatchTopic,
  namespaces: NamespaceRules,
): AccessDenied | undefined {
  try {
    requireTopic(principal, topic, namespaces);
    return undefined;
  } catch (err) {
    if (err instanceof AccessDenied) return err;
    throw err;
  }
}

/**
 * Returns if a sender may read one of the topics, or asks for none.
 * @throws AccessDenied otherwise, PlatformError `validation_failed` when the filter of one cannot be read
 */
export function requireOneTopic(principal: Principal, topics: readonly WatchTopic[], namespaces: NamespaceRules): void {
  const denied = topics.map((topic) => deniedTopic(principal, topic, namespaces));
  if (denied.every((err) => err !== undefined) && denied[0] !== undefined) throw denied[0];
}

/** Whether a sender sees of a topic what the administrator sees, so that they can be told the same. */
export function seesWhole(principal: Principal, { kind }: WatchTopic): boolean {
  switch (kind) {
    case "functions":
      return seesAll(principal, listAction);
    case "calls":
      return seesAll(principal, listCallsAction);
    case "call":
      return seesAll(principal, getCallAction) && seesAll(principal, logsAction);
    default:
      return true;
  }
}

function requireList(principal: Principal, named: string | undefined, namespaces: NamespaceRules): void {
  if (named === undefined) return requireAnywhere(principal, listAction);
  const namespace = realNamespace(named, namespaces);
  if (!permittedWithin(principal, listAction, namespace)) {
    requireAccess(principal, { action: listAction, resource: `${namespace}:*` });
  }
}

function requireOn(principal: Principal, action: string, ref: FunctionRef, namespaces: NamespaceRules): void {
  requireAccess(principal, { action, resource: resourceOf(realRef(ref, namespaces)) });
}
