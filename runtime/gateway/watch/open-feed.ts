import { permitted, type Principal } from "../../core/access/principal.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { realNamespace } from "../../core/namespaces/namespace-rules.ts";
import type { FunctionRows } from "../../core/watch/function-rows.ts";
import type { WatchTopic } from "../../core/watch/watch-topic.ts";
import { listAction, resourceOf } from "../access/function-callers.ts";
import type { AppParts } from "../rest/app-parts.ts";
import type { ReadCallDetail } from "../rest/routes/history/read-call-detail.ts";
import { CallTopic } from "./feeds/call-topic.ts";
import { CallsTopic } from "./feeds/calls-topic.ts";
import { DoctorTopic } from "./feeds/doctor-topic.ts";
import { FunctionTopic } from "./feeds/function-topic.ts";
import { FunctionsFeed } from "./feeds/functions-feed.ts";
import { LogFeed } from "./feeds/log-feed.ts";
import { PolledFeed, type PolledTopic } from "./feeds/polled-feed.ts";
import { QueuesTopic } from "./feeds/queues-topic.ts";
import type { WatchFeed } from "./feeds/watch-feed.ts";
import { realRef } from "./topic-access.ts";
import type { WatchClock } from "./watch-clock.ts";

/** What feeds are made from. */
export interface FeedParts extends Pick<
  AppParts,
  | "doctor"
  | "endpoints"
  | "history"
  | "invocations"
  | "log"
  | "logs"
  | "namespaces"
  | "queueParts"
  | "requests"
  | "view"
> {
  readonly rows: Pick<FunctionRows, "rows">;
  readonly readDetail: ReadCallDetail;
  readonly clock: WatchClock;
}

/** Milliseconds between two looks. */
const usualPace = 1_000;
/** The history is a while behind by itself, and its newest calls are read fast. */
const callsPace = 250;
/** The doctor examines no more often. */
const doctorPace = 10_000;

/** The feed of a topic, for readers who see what `principal` sees. */
export function openFeed(topic: WatchTopic, principal: () => Principal, parts: FeedParts): WatchFeed {
  const { clock, log, namespaces, rows } = parts;
  const { on } = topic;
  const polled = (asked: PolledTopic, every = usualPace): WatchFeed =>
    new PolledFeed({ on, topic: asked, every, now: () => clock.now(), log });
  switch (topic.kind) {
    case "functions": {
      const namespace = topic.namespace === undefined ? undefined : realNamespace(topic.namespace, namespaces);
      return new FunctionsFeed(on, rows, wantsFunctions(namespace, principal));
    }
    case "function":
      return polled(new FunctionTopic(on, realRef(topic.ref, namespaces), parts));
    case "queues":
      return polled(new QueuesTopic(on, parts.queueParts));
    case "calls":
      return polled(new CallsTopic(on, topic.parameters, principal, parts), callsPace);
    case "call":
      return polled(new CallTopic(on, topic.id, principal, parts.readDetail));
    case "doctor":
      return polled(new DoctorTopic(on, parts.doctor), doctorPace);
    case "log": {
      const ref = realRef(topic.ref, namespaces);
      return new LogFeed(on, ref, {
        logs: parts.logs,
        isThere: () => parts.view.wanted(ref) !== undefined,
        clock,
        log,
      });
    }
    default:
      return topic satisfies never;
  }
}

/** Whether a reader is told of a function; decided once for each while their rights stay the same. */
function wantsFunctions(namespace: string | undefined, principal: () => Principal): (ref: FunctionRef) => boolean {
  const decided = new WeakMap<FunctionRef, boolean>();
  return (ref) => {
    if (namespace !== undefined && ref.namespace !== namespace) return false;
    let isWanted = decided.get(ref);
    if (isWanted === undefined) {
      isWanted = permitted(principal(), { action: listAction, resource: resourceOf(ref) }).allowed;
      decided.set(ref, isWanted);
    }
    return isWanted;
  };
}
