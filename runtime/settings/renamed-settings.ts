/** Settings by the names they had, in snake_case: whoever still says one is told its new name, and not ignored. */
export const renamedSettings: ReadonlyMap<string, string> = new Map([
  ["body_silence", "body_idle_timeout"],
  ["call_age", "call_max_age"],
  ["debris_age", "orphan_grace"],
  ["log_heartbeat", "log_heartbeat_period"],
  ["nats_ping", "nats_ping_interval"],
  ["rebuild_gap", "repair_cooldown"],
  ["websocket_idle", "websocket_idle_timeout"],
]);
