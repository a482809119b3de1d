/** What one user of the broker may publish to and subscribe to; everything else is refused. */
export interface NatsRights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** One user: its name, the prefix of its inboxes, its rights. */
export interface NatsUser {
  readonly name: string;
  readonly inboxPrefix: string;
  readonly rights: NatsRights;
}

export interface NatsUsersOptions {
  readonly queues: readonly string[];
  /** Whether functions, namespaces and endpoints are stored in the broker, too. */
  readonly oneMachine: boolean;
  /** Whether a history of calls is kept; true when absent. */
  readonly history?: boolean;
}

/** Names of the users; a worker has one per queue. */
export const natsUser = {
  gateway: "gateway",
  provider: "provider",
  autoscaler: "autoscaler",
  doctor: "doctor",
  history: "history",
  worker: (queue: string) => `worker-${queue}`,
} as const;

const api = "$JS.API";
/** What processes report for the history. */
const historyReport = { sync: "history.sync", rollup: "history.rollup", scaling: "history.scaling" } as const;
const leaderBuckets: readonly string[] = ["calls", "queues"];

/** All users, each with only the rights that its process needs. */
export function natsUsers(options: NatsUsersOptions): NatsUser[] {
  const { queues, oneMachine, history = true } = options;
  return [
    gatewayUser(oneMachine),
    ...queues.map((queue) => workerUser(queue, oneMachine)),
    ...(oneMachine ? [providerUser()] : []),
    ...(history ? [historyUser(oneMachine)] : []),
    autoscalerUser(oneMachine),
    doctorUser(),
  ];
}

function gatewayUser(oneMachine: boolean): NatsUser {
  return user(natsUser.gateway, "gw", {
    publish: [
      "q.>",
      "cb.>",
      keys("calls"),
      keys("sessions"),
      "ctl.cancel",
      "ctl.ended",
      "activity.>",
      ...Object.values(historyReport),
      `${api}.INFO`,
      `${api}.STREAM.INFO.*`,
      `${api}.CONSUMER.INFO.*.workers`,
      `${api}.STREAM.MSG.GET.DLQ`,
      `${api}.STREAM.MSG.DELETE.DLQ`,
      `${api}.STREAM.MSG.DELETE.KV_requests`,
      `${api}.STREAM.PURGE.KV_requests`,
      ...["change", "refusal"].flatMap((kind) => [`audit.${kind}`, `${api}.DIRECT.GET.audit_${kind}`]),
      ...reads("calls", "results", "requests", "queues", "sessions"),
      ...watches("queues", "sessions"),
      ...(oneMachine
        ? [
            keys("functions"),
            keys("namespaces"),
            ...reads("functions", "namespaces", "endpoints"),
            ...watches("functions", "namespaces", "endpoints"),
          ]
        : []),
    ],
    subscribe: ["ctl.ended", "activity.>"],
  });
}

function workerUser(queue: string, oneMachine: boolean): NatsUser {
  const stream = `Q_${queue}`;
  return user(natsUser.worker(queue), `wk-${queue}`, {
    publish: [
      ...consumes(stream, "workers"),
      ...consumes("CB", "callbacks"),
      `${api}.STREAM.INFO.${stream}`,
      "cb.>",
      `dlq.${queue}.>`,
      "dlq.*.*.callback",
      keys("calls"),
      keys("results"),
      keys("requests"),
      `$KV.queues.lease.queue.${queue}`,
      "ctl.ended",
      "activity.>",
      historyReport.rollup,
      historyReport.scaling,
      ...reads("calls", "results", "queues"),
      ...watches("queues"),
      ...(oneMachine
        ? [keys("functions"), ...reads("functions", "endpoints"), ...watches("functions", "endpoints")]
        : []),
    ],
    subscribe: ["ctl.cancel"],
  });
}

function providerUser(): NatsUser {
  const buckets = ["functions", "namespaces", "endpoints"];
  return user(natsUser.provider, "pr", {
    publish: [keys("endpoints"), keys("namespaces"), ...reads(...buckets), ...watches(...buckets)],
    subscribe: [],
  });
}

function autoscalerUser(oneMachine: boolean): NatsUser {
  return user(natsUser.autoscaler, "as", {
    publish: [
      `${api}.STREAM.INFO.*`,
      historyReport.scaling,
      ...(oneMachine
        ? [
            keys("functions"),
            ...reads("functions", "endpoints"),
            ...watches("functions", "endpoints"),
            "$KV.queues.lease.process.autoscaler",
            ...reads("queues"),
          ]
        : []),
    ],
    subscribe: ["activity.>"],
  });
}

/** It writes nothing of a call: what it knows of them it reads. Kept requests it may remove. */
function historyUser(oneMachine: boolean): NatsUser {
  return user(natsUser.history, "hs", {
    publish: [
      ...["KV_calls", "DLQ"].flatMap((stream) =>
        ["CREATE", "MSG.NEXT", "DELETE"].map((call) => `${api}.CONSUMER.${call}.${stream}.*`),
      ),
      `${api}.STREAM.PURGE.KV_requests`,
      "$KV.queues.lease.process.history",
      ...reads("calls", "queues"),
      ...(oneMachine ? [...reads("namespaces"), ...watches("namespaces")] : []),
    ],
    subscribe: Object.values(historyReport),
  });
}

function doctorUser(): NatsUser {
  return user(natsUser.doctor, "dr", {
    // `npm run backup` and `npm run restore` connect as this user, too: they read and write stream chunks.
    publish: [`${api}.>`, "$JS.FC.>", "$JS.SNAPSHOT.>", keys("queues"), keys("calls"), keys("results")],
    subscribe: ["$JS.EVENT.ADVISORY.>"],
  });
}

function user(name: string, inbox: string, rights: NatsRights): NatsUser {
  const inboxPrefix = `_INBOX.${inbox}`;
  return {
    name,
    inboxPrefix,
    rights: { publish: [...new Set(rights.publish)], subscribe: [`${inboxPrefix}.>`, ...rights.subscribe] },
  };
}

function keys(bucket: string): string {
  return `$KV.${bucket}.>`;
}

/** Rights to read single entries: only from the leader where a stale read would do harm. */
function reads(...buckets: readonly string[]): string[] {
  return buckets.flatMap((bucket) => [
    `${api}.STREAM.INFO.KV_${bucket}`,
    `${api}.STREAM.MSG.GET.KV_${bucket}`,
    ...(leaderBuckets.includes(bucket) ? [] : [`${api}.DIRECT.GET.KV_${bucket}.>`]),
  ]);
}

/** Rights to watch a bucket, by an ephemeral consumer with flow control. */
function watches(...buckets: readonly string[]): string[] {
  return buckets.flatMap((bucket) => [
    `${api}.CONSUMER.CREATE.KV_${bucket}.>`,
    `${api}.CONSUMER.DELETE.KV_${bucket}.>`,
    `$JS.FC.KV_${bucket}.>`,
    `$JS.FC.*.*.KV_${bucket}.>`,
  ]);
}

/** Rights to consume from one durable consumer; the second form of the acknowledgement is that of future servers. */
function consumes(stream: string, consumer: string): string[] {
  return [
    ...["CREATE", "INFO", "MSG.NEXT"].map((call) => `${api}.CONSUMER.${call}.${stream}.${consumer}`),
    `$JS.ACK.${stream}.${consumer}.>`,
    `$JS.ACK.*.*.${stream}.${consumer}.>`,
  ];
}
