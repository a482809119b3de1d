import fastify from "fastify";

interface Item {
  readonly count: number;
}

/** Of this process only: with more than one replica it would be a database's. */
const items = new Map<string, Item>();

const itemSchema = {
  type: "object",
  properties: { count: { type: "integer", minimum: 0, maximum: 1_000_000 } },
  required: ["count"],
  additionalProperties: false,
} as const;

/** Log lines carry the call id. */
const app = fastify({ logger: true, requestIdHeader: "x-call-id" });

app.get("/items", () => Object.fromEntries(items));

app.get<{ Params: { name: string } }>("/items/:name", (request, reply) => {
  const { name } = request.params;
  return items.get(name) ?? reply.code(404).send({ error: `There is no item "${name}"` });
});

app.put<{ Params: { name: string }; Body: Item }>(
  "/items/:name",
  { schema: { body: itemSchema } },
  (request, reply) => {
    const { name } = request.params;
    reply.code(items.has(name) ? 200 : 201);
    items.set(name, request.body);
    return { name, ...request.body };
  },
);

app.delete<{ Params: { name: string } }>("/items/:name", (request, reply) =>
  reply.code(items.delete(request.params.name) ? 204 : 404).send(),
);

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
process.on("SIGTERM", () => void app.close());
