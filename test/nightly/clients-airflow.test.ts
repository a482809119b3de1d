import { clientsFlags, walkClients } from "../support/walk-clients.ts";
import { walkedWeir } from "../support/walked-weir.ts";

await walkClients(walkedWeir("clients", { flags: clientsFlags, within: 60_000 }), "Apache Airflow", "airflow");
