import Type from "typebox";

import { queueName } from "../../../api/schemas/name-schemas.ts";
import { QueueStatus } from "../../../api/schemas/queue-status.ts";
import { knownQueue, knownQueues, showQueue } from "../../../core/queues/queue-views.ts";
import { route } from "../route.ts";
import { deadLetterRoutes } from "./dead-letters.ts";

const listQueues = route(
  {
    id: "listQueues",
    group: "queues",
    method: "GET",
    path: "/system/queues",
    needs: "Queue:List",
    about: "Lists the queues, sorted by name, with what is in them and why calls wait.",
    responses: [{ status: 200, about: "The queues", schema: Type.Array(QueueStatus) }],
    errors: ["queue_unavailable"],
    trial: { commands: "curl -u admin:$P $G/system/queues", shows: '[{"name":"default","queued":0,…"workers":1,…}]' },
  },
  ({ queueParts }) =>
    async () =>
      Promise.all(knownQueues(queueParts.table).map((queue) => showQueue(queueParts, queue))),
);

const getQueue = route(
  {
    id: "getQueue",
    group: "queues",
    method: "GET",
    path: "/system/queue/:queue",
    needs: "Queue:Get",
    about: "Shows a queue, what is in it, and why calls wait.",
    params: Type.Object({ queue: queueName("Name of the queue") }),
    responses: [{ status: 200, about: "The queue", schema: QueueStatus }],
    errors: ["queue_not_found", "queue_unavailable"],
    trial: { commands: "curl -u admin:$P $G/system/queue/default", shows: '{"name":"default",…"limit":1000000}' },
  },
  ({ queueParts, edition }) =>
    async ({ params }) =>
      showQueue(queueParts, knownQueue(queueParts.table, params.queue, edition)),
);

/** Queues and their dead letters (contract §3.5). */
export const queueRoutes = [listQueues, getQueue, ...deadLetterRoutes];
