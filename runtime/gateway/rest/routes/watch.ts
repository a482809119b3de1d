import { once } from "node:events";
import Type from "typebox";

import { WatchEventData } from "../../../api/schemas/watch-events.ts";
import { eventStreamType } from "../../../core/watch/event-text.ts";
import { parseWatchTopics } from "../../../core/watch/watch-topic.ts";
import { StreamSender } from "../../watch/stream-sender.ts";
import { requireOneTopic } from "../../watch/topic-access.ts";
import { route } from "../route.ts";

const WatchQuery = Type.Object({
  on: Type.Optional(
    Type.String({
      description: "Topics, separated by commas; a comma within a filter is written %2C. Absent: none",
      examples: ["queues", "functions:dev,call:7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10"],
    }),
  ),
});

/** The stream of changes (contract §3.6). */
export const watchRoute = route(
  {
    id: "watchPlatform",
    group: "platform",
    method: "GET",
    path: "/system/watch",
    needs: "credentials",
    about: "Streams what changes: functions, queues, calls, log lines, findings.",
    details:
      "Server-sent events. Needs credentials, and no right of its own: `on` names topics, each of which shows what its reader may see, and a topic that they may not see begins with a `fault`; if that is each of them, the stream is refused. Topics: `functions[:<namespace>]`, `function:<namespace>:<name>`, `queues`, `calls[:<filter>]`, `call:<id>`, `log:<namespace>:<name>`, `doctor`; at most 16, 4 of them logs. A filter is the query of `GET /system/calls`, encoded once more. The first event is `hello`; each topic begins with the whole, then come changes, at most once a second: events `functions`, `function`, `queues`, `calls`, `call`, `log`, `doctor`, and `fault` for a topic that cannot be shown now, until its next event. A comment comes after 15 s of silence. Before an end that is known, `bye` says why: `slow` to a client that left 1 MiB unread, `session` when its sender may not go on, `draining` when the gateway stops. Nothing is replayed: another stream begins anew. A stream counts as one of the 200 log streams.",
    query: WatchQuery,
    responses: [
      {
        status: 200,
        about: "The events",
        schema: WatchEventData,
        type: eventStreamType,
      },
    ],
    errors: ["validation_failed", "forbidden", "too_many_streams"],
    head: false,
    trial: { commands: 'curl -sN -u admin:$P "$G/system/watch?on=queues" | head -n 1', shows: "event: hello" },
  },
  ({ watch, logStreams, namespaces }) =>
    async ({ query, principal, request: { access }, reply }) => {
      const topics = parseWatchTopics(query.on);
      requireOneTopic(principal, topics, namespaces);
      using place = logStreams.begin();
      reply.header("content-type", eventStreamType).header("x-accel-buffering", "no");
      const headers = Object.fromEntries(
        Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]),
      );
      reply.hijack();
      const { raw } = reply;
      // It may have closed before, and will not emit that again.
      if (raw.closed) return;
      const closed = once(raw, "close");
      raw.writeHead(200, headers);
      raw.flushHeaders();
      const sender = new StreamSender({ principal, renew: access.renew, now: () => watch.now() });
      const reader = watch.open(raw, topics, sender);
      place.signal.addEventListener("abort", () => reader.bye("draining"), { once: true });
      await closed;
    },
);
