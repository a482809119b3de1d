import { formatDuration } from "../../runtime/api/duration.ts";

/** What a test may set of the queue; durations in milliseconds. The defaults are those of the fast profile. */
export interface QueueProfile {
  readonly ackWait?: number;
  /** Calls that one queue-worker runs at once; above 1 the platform is of edition pro. */
  readonly slots?: number;
  readonly retryAttempts?: number;
  readonly retryMinWait?: number;
  readonly retryMaxWait?: number;
  /** Longest run. */
  readonly upstreamTimeout?: number;
  readonly wakeTimeout?: number;
  readonly callbackWindow?: number;
  readonly maxLength?: number;
}

export const fastProfile = {
  ackWait: 2_000,
  slots: 1,
  retryAttempts: 3,
  retryMinWait: 100,
  retryMaxWait: 1_000,
  upstreamTimeout: 10_000,
  wakeTimeout: 5_000,
  callbackWindow: 6_000,
  maxLength: 100_000,
} as const satisfies QueueProfile;

/** The flags of one kind of process that follow from the profile. */
export function platformFlags(profile: Required<QueueProfile>) {
  const flag = (name: string, value: string | number) => [`--${name}`, String(value)];
  const time = (name: string, milliseconds: number) => flag(name, formatDuration(milliseconds));
  const common = [
    ...flag("admin-port", 0),
    ...flag("edition", profile.slots > 1 ? "pro" : "community"),
    ...time("nats-ping", 1_000),
    ...time("ack-wait", profile.ackWait),
    ...time("call-record-ttl", 300_000),
    ...time("upstream-timeout", profile.upstreamTimeout),
    ...time("wake-timeout", profile.wakeTimeout),
  ];
  return {
    gateway: [
      ...common,
      ...time("shutdown-delay", 100),
      ...time("headers-timeout", 2_000),
      ...time("body-silence", 5_000),
    ],
    worker: [
      ...common,
      ...time("callback-min-wait", 100),
      ...time("callback-max-wait", 1_000),
      ...time("callback-window", profile.callbackWindow),
      ...time("callback-timeout", 2_000),
    ],
    doctor: [
      ...common,
      ...flag("one-machine", "true"),
      ...flag("max-file-store", 1_073_741_824),
      ...flag("max-inflight", profile.slots),
      ...flag("max-length", profile.maxLength),
      ...flag("retry-attempts", profile.retryAttempts),
      ...time("retry-min-wait", profile.retryMinWait),
      ...time("retry-max-wait", profile.retryMaxWait),
      ...time("doctor-period", 1_000),
      ...time("lease-ttl", 5_000),
    ],
  };
}
