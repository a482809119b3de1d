import { Counter, type Registry } from "prom-client";

/** Counts connections that were closed on arrival; `client`: over the limit of its client, `all`: of all clients. */
export function buildRefusedConnections(registry: Registry): (reason: "client" | "all") => void {
  const counter = new Counter({
    name: "gateway_connections_refused_total",
    help: "Connections closed on arrival: over the limit of their client, or of all clients",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of ["client", "all"]) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}
