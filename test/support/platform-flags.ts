import { formatDuration } from "../../runtime/api/duration.ts";

/** Queue settings of a test; durations in milliseconds. The defaults are those of the fast profile. */
export interface QueueProfile {
  readonly ackWait?: number;
  /** Calls that one queue-worker runs at once; above 1 the platform has edition pro. */
  readonly slots?: number;
  readonly retryAttempts?: number;
  readonly retryMinWait?: number;
  readonly retryMaxWait?: number;
  /** Maximum duration of a run. */
  readonly upstreamTimeout?: number;
  readonly wakeTimeout?: number;
  /** Maximum time that a stop waits for calls in flight. */
  readonly drainTimeout?: number;
  readonly callbackWindow?: number;
  readonly maxLength?: number;
  /** By name: the entry of a settings file, and the number of queue-workers (1). Any queue needs edition enterprise. */
  readonly queues?: Readonly<Record<string, { readonly workers?: number; readonly entry?: object }>>;
  /** Maximum bytes that the broker may store. */
  readonly maxFileStore?: number;
}

export const fastProfile = {
  ackWait: 2_000,
  slots: 1,
  retryAttempts: 3,
  retryMinWait: 100,
  retryMaxWait: 1_000,
  upstreamTimeout: 10_000,
  wakeTimeout: 5_000,
  drainTimeout: 10_000,
  callbackWindow: 6_000,
  maxLength: 100_000,
  queues: {},
  maxFileStore: 1_073_741_824,
} as const satisfies QueueProfile;

/** The flags of each kind of process that follow from the profile. */
export interface PlatformFlags {
  readonly gateway: readonly string[];
  readonly worker: readonly string[];
  readonly doctor: readonly string[];
  readonly autoscaler: readonly string[];
}

const flag = (name: string, value: string | number) => [`--${name}`, String(value)];
const time = (name: string, milliseconds: number) => flag(name, formatDuration(milliseconds));
const commonFlags = (profile: Pick<Required<QueueProfile>, "slots" | "queues">) => [
  ...flag("admin-port", 0),
  ...flag("edition", editionOf(profile)),
];
const doctorFlags = ({ slots, maxFileStore }: Pick<Required<QueueProfile>, "slots" | "maxFileStore">) => [
  ...flag("one-machine", "true"),
  ...flag("max-file-store", maxFileStore),
  ...flag("max-inflight", slots),
];

/** Flags for the fast profile, with the changes of a test. */
export function platformFlags(profile: Required<QueueProfile>): PlatformFlags {
  const common = [
    ...commonFlags(profile),
    ...time("nats-ping-interval", 1_000),
    ...time("ack-wait", profile.ackWait),
    ...time("call-record-ttl", 300_000),
    ...time("upstream-timeout", profile.upstreamTimeout),
    ...time("wake-timeout", profile.wakeTimeout),
  ];
  return {
    gateway: [
      ...common,
      ...time("drain-timeout", profile.drainTimeout),
      ...time("shutdown-delay", 100),
      ...time("headers-timeout", 2_000),
      ...time("body-idle-timeout", 5_000),
    ],
    worker: [
      ...common,
      ...time("drain-timeout", profile.drainTimeout),
      ...time("callback-min-wait", 100),
      ...time("callback-max-wait", 1_000),
      ...time("callback-window", profile.callbackWindow),
      ...time("callback-timeout", 2_000),
    ],
    doctor: [
      ...common,
      ...doctorFlags(profile),
      ...flag("max-length", profile.maxLength),
      ...flag("retry-attempts", profile.retryAttempts),
      ...time("retry-min-wait", profile.retryMinWait),
      ...time("retry-max-wait", profile.retryMaxWait),
      ...time("doctor-period", 1_000),
      ...time("orphan-grace", 3_000),
      ...time("repair-cooldown", 5_000),
      ...time("lease-ttl", 5_000),
    ],
    autoscaler: [
      ...flag("admin-port", 0),
      ...time("nats-ping-interval", 1_000),
      ...time("wake-timeout", profile.wakeTimeout),
      ...time("lease-ttl", 5_000),
      ...time("scale-period", 500),
      ...time("scale-window", 2_000),
      ...time("activity-timeout", 30_000),
    ],
  };
}

function editionOf({ queues, slots }: Pick<Required<QueueProfile>, "slots" | "queues">): string {
  if (Object.keys(queues).length > 0) return "enterprise";
  return slots > 1 ? "pro" : "community";
}

/** Flags for the soak profile: every time is the default of its setting. */
export function soakFlags(profile: QueueProfile): PlatformFlags {
  const { slots = fastProfile.slots, maxFileStore = fastProfile.maxFileStore, queues = {} } = profile;
  const common = commonFlags({ slots, queues });
  const doctor = [...common, ...doctorFlags({ slots, maxFileStore })];
  return { gateway: common, worker: common, doctor, autoscaler: flag("admin-port", 0) };
}
