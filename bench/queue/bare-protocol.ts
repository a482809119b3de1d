// The peer of P7: the steps of one queued call at the broker (G2, G3, W1, W2, W6, W7, W10) and nothing else.
import { randomUUID } from "node:crypto";

import { headers, type NatsConnection } from "@nats-io/transport-node";

const stream = "Q_bare";
const consumer = "workers";
const timeout = 5_000;

/** Creates a work queue and two buckets for the peer, as simple as the protocol allows. */
export async function provisionBare(nc: NatsConnection): Promise<void> {
  const ask = async (subject: string, body: object): Promise<void> => {
    const reply = (await nc.request(`$JS.API.${subject}`, JSON.stringify(body), { timeout })).json<{
      error?: { description: string };
    }>();
    if (reply.error !== undefined) throw new Error(`${subject}: ${reply.error.description}`);
  };
  await ask(`STREAM.CREATE.${stream}`, {
    name: stream,
    subjects: ["bare.q"],
    retention: "workqueue",
    storage: "file",
    discard: "new",
    duplicate_window: 120e9,
  });
  for (const bucket of ["bare-calls", "bare-results"]) {
    await ask(`STREAM.CREATE.KV_${bucket}`, {
      name: `KV_${bucket}`,
      subjects: [`$KV.${bucket}.>`],
      storage: "file",
      max_msgs_per_subject: 1,
      allow_msg_ttl: true,
      allow_rollup_hdrs: true,
      discard: "new",
    });
  }
  await ask(`CONSUMER.DURABLE.CREATE.${stream}.${consumer}`, {
    stream_name: stream,
    config: { durable_name: consumer, ack_policy: "explicit", ack_wait: 60e9, max_ack_pending: -1 },
  });
}

/** Queues `count` calls, `inFlight` at a time, and runs them with `slots` slots; resolves with calls per second. */
export async function runBare(
  nc: NatsConnection,
  options: { count: number; inFlight: number; slots: number; body: Uint8Array },
): Promise<number> {
  const record = {
    v: 1,
    state: "queued",
    queue: "bare",
    namespace: "functions",
    function: "tiny",
    digest: "x".repeat(43),
    attempts: [],
  };
  const write = async (bucket: string, key: string, value: Uint8Array, expected?: number): Promise<number> => {
    const head = headers();
    head.set("Nats-TTL", "3600s");
    if (expected !== undefined) head.set("Nats-Expected-Last-Subject-Sequence", String(expected));
    const ack = (await nc.request(`$KV.${bucket}.${key}`, value, { headers: head, timeout })).json<{
      seq?: number;
      error?: { description: string };
    }>();
    if (ack.seq === undefined) throw new Error(ack.error?.description ?? "no acknowledgement");
    return ack.seq;
  };
  const json = (state: string): Buffer => Buffer.from(JSON.stringify({ ...record, state }));

  let queued = 0;
  let settled = 0;
  let finish: () => void = () => {};
  let fail: (err: unknown) => void = () => {};
  const all = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const settle = async (id: string, reply: string): Promise<void> => {
    const read = await nc.request(
      "$JS.API.STREAM.MSG.GET.KV_bare-calls",
      JSON.stringify({ last_by_subj: `$KV.bare-calls.${id}` }),
      { timeout },
    );
    const { message } = read.json<{ message: { seq: number } }>();
    const claimed = await write("bare-calls", id, json("running"), message.seq);
    await write("bare-results", `${id}.1`, options.body);
    await write("bare-calls", id, json("done"), claimed);
    await nc.request(reply, "+ACK", { timeout });
    settled++;
    if (settled === options.count) finish();
  };
  const inbox = `_INBOX.bare-${randomUUID()}`;
  const pull = (slot: number): void => {
    if (settled === options.count) return;
    nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify({ batch: 1, expires: 5e9 }), {
      reply: `${inbox}.${slot}`,
    });
  };
  const subscriptions = Array.from({ length: options.slots }, (_, slot) =>
    nc.subscribe(`${inbox}.${slot}`, {
      callback: (err, message) => {
        if (err !== null) return;
        if ((message.headers?.code ?? 0) >= 400 || message.reply === undefined) pull(slot);
        else settle(message.headers?.get("Nats-Msg-Id") ?? "", message.reply).then(() => pull(slot), fail);
      },
    }),
  );

  const startedAt = performance.now();
  for (let slot = 0; slot < options.slots; slot++) pull(slot);
  const producers = Array.from({ length: options.inFlight }, async () => {
    while (queued < options.count) {
      queued++;
      const id = randomUUID();
      await write("bare-calls", id, json("queued"), 0);
      const head = headers();
      head.set("Nats-Msg-Id", id);
      await nc.request("bare.q", options.body, { headers: head, timeout });
    }
  });
  Promise.all(producers).catch(fail);
  await all;
  const perSecond = options.count / ((performance.now() - startedAt) / 1_000);
  for (const subscription of subscriptions) subscription.unsubscribe();
  return perSecond;
}
