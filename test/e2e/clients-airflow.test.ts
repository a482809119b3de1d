import { walkClients } from "../support/walk-clients.ts";

await walkClients("Apache Airflow", "airflow");
