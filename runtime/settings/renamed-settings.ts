/** Former names of settings, in snake_case: using one is an error that gives the new name, so it is not ignored. */
export const renamedSettings: ReadonlyMap<string, string> = new Map([
  ["body_silence", "body_idle_timeout"],
  ["call_age", "call_max_age"],
  ["debris_age", "orphan_grace"],
  ["log_heartbeat", "log_heartbeat_period"],
  ["nats_ping", "nats_ping_interval"],
  ["rebuild_gap", "repair_cooldown"],
  ["websocket_idle", "websocket_idle_timeout"],
]);
