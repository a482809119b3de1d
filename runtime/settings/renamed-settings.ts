/** Settings by the names they had, in snake_case: whoever still says one is told its new name, and not ignored. */
export const renamedSettings: ReadonlyMap<string, string> = new Map([
  ["body_idle_timeout", "body_idle_timeout"],
  ["call_max_age", "call_max_age"],
  ["orphan_grace", "orphan_grace"],
  ["log_heartbeat_period", "log_heartbeat_period"],
  ["nats_ping_interval", "nats_ping_interval"],
  ["repair_cooldown", "repair_cooldown"],
  ["websocket_idle_timeout", "websocket_idle_timeout"],
]);
