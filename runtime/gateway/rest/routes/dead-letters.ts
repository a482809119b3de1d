import Type from "typebox";

import { callId, queueName } from "../../../api/schemas/name-schemas.ts";
import { DeadLetterPage } from "../../../api/schemas/queue-status.ts";
import { knownQueue, showDeadLetters } from "../../../core/queues/queue-views.ts";
import { deleteDeadLetters, redriveCall } from "../../../core/queues/redrive.ts";
import { permittedLetters } from "../../access/permitted-letters.ts";
import { route } from "../route.ts";

const QueuePath = Type.Object({ queue: queueName("Name of the queue") });
const DeadLetterPath = Type.Object({ ...QueuePath.properties, callId: callId("Id of the call") });

const PageQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "Most items of a page", examples: [100] }),
  ),
  after: Type.Optional(Type.String({ description: "`next` of the previous page" })),
});

/** Dead letters: list, redrive, delete (contract §3.5). */
export const deadLetterRoutes = [
  route(
    {
      id: "listDeadLetters",
      group: "queues",
      method: "GET",
      path: "/system/queue/:queue/dead-letters",
      needs: "Queue:Get",
      about: "Lists the calls of a queue that were given up, oldest first, each with what to do about it.",
      details:
        "Shows those of functions that the sender may list. Headers, body and addresses of a call are not shown. A page of large calls may be shorter than limit.",
      params: QueuePath,
      query: PageQuery,
      responses: [{ status: 200, about: "One page of dead letters", schema: DeadLetterPage }],
      errors: ["queue_not_found", "queue_unavailable"],
      trial: {
        commands: 'curl -u admin:$P "$G/system/queue/default/dead-letters?limit=10"',
        shows: '{"items":[]}',
      },
    },
    ({ queueParts: { table, letters }, edition }) =>
      async ({ params, query, principal }) => {
        const { name } = knownQueue(table, params.queue, edition);
        return showDeadLetters(permittedLetters(letters, principal), name, query);
      },
  ),
  route(
    {
      id: "redriveDeadLetter",
      group: "queues",
      method: "POST",
      path: "/system/queue/:queue/dead-letters/:callId/redrive",
      needs: "Queue:Redrive",
      about: "Queues a dead letter again, under the same id.",
      details:
        "The call gets as many retries as at first. Where only the callback was given up, the callback is sent again and the function does not run. The dead letter is gone afterwards.",
      params: DeadLetterPath,
      responses: [{ status: 202, about: "The call is queued" }],
      errors: [
        "queue_not_found",
        "call_not_found",
        "call_not_redrivable",
        "payload_too_large",
        "queue_full",
        "store_full",
        "queue_unavailable",
      ],
      trial: {
        commands: "curl -X POST -u admin:$P $G/system/queue/default/dead-letters/$ID/redrive",
        shows: "Cannot redrive call …",
      },
    },
    ({ queueParts, edition }) =>
      async ({ params, principal }) => {
        const { name } = knownQueue(queueParts.table, params.queue, edition);
        const letters = permittedLetters(queueParts.letters, principal);
        await redriveCall({ ...queueParts, letters }, name, params.callId.toLowerCase());
      },
  ),
  route(
    {
      id: "deleteDeadLetter",
      group: "queues",
      method: "DELETE",
      path: "/system/queue/:queue/dead-letters/:callId",
      needs: "Queue:Delete",
      about: "Removes a call that was given up.",
      params: DeadLetterPath,
      responses: [{ status: 202, about: "The dead letter is deleted" }],
      errors: ["queue_not_found", "call_not_found", "queue_unavailable"],
      trial: {
        commands: "curl -X DELETE -u admin:$P $G/system/queue/default/dead-letters/$ID",
        shows: "Cannot delete call …",
      },
    },
    ({ queueParts: { table, letters }, edition }) =>
      async ({ params, principal }) => {
        const { name } = knownQueue(table, params.queue, edition);
        await deleteDeadLetters(permittedLetters(letters, principal), name, params.callId.toLowerCase());
      },
  ),
];
