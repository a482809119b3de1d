import { Counter, type Registry } from "prom-client";

/** Counts connections that were closed as they came; `client`: one too many of its client, `all`: of all. */
export function buildRefusedConnections(registry: Registry): (reason: "client" | "all") => void {
  const counter = new Counter({
    name: "gateway_connections_refused_total",
    help: "Connections closed as they came: one too many of their client, or of all",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of ["client", "all"]) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}
