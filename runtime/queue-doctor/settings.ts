import {
  brokerSettings,
  callTimeSettings,
  leaseSettings,
  platformSettings,
  processSettings,
  queueSettings,
  type ConnectionSetting,
} from "../api/platform-settings.ts";
import { choice, duration, flag, whole, type Values } from "../api/setting.ts";

/** Everything the queue-doctor reads. */
export const queueDoctorSettings = {
  ...processSettings,
  ...brokerSettings,
  ...leaseSettings,
  ...queueSettings,
  ...callTimeSettings,
  ...platformSettings,
  doctorPeriod: duration("doctor_period", { fallback: "30s", about: "Time between two looks at the queues" }),
  maxInflight: whole("max_inflight", {
    fallback: "1",
    min: 1,
    max: 10_000,
    about: "Calls one queue-worker runs at once",
  }),
  queueWorkers: whole("queue_workers", {
    fallback: "1",
    min: 1,
    max: 1_000,
    about: "Queue-workers of the default queue",
  }),
  maxLength: whole("max_length", { fallback: "1000000", min: 1, about: "Most calls in the default queue" }),
  retryAttempts: whole("retry_attempts", {
    fallback: "10",
    max: 100,
    about: "Retries of an asynchronous call after its first run",
  }),
  retryMinWait: duration("retry_min_wait", {
    fallback: "10s",
    about: "Wait before the first retry, doubled each time",
  }),
  retryMaxWait: duration("retry_max_wait", { fallback: "120s", about: "Longest wait between retries" }),
  maxFileStore: whole("max_file_store", {
    fallback: "10737418240",
    min: 67_108_864,
    about: "Bytes the broker may store in all",
  }),
  natsReplicas: choice("nats_replicas", ["1", "3"], { fallback: "1", about: "Copies of every stream" }),
  oneMachine: flag("one_machine", {
    fallback: "false",
    about: "Keep functions and endpoints in the broker, too, where there is no Kubernetes",
  }),
};

/** What the queues are declared from. */
export type QueueFactSettings = Omit<
  Values<typeof queueDoctorSettings>,
  ConnectionSetting | "oneMachine" | "maxFileStore" | "natsReplicas"
>;
