import { walkClients } from "../support/walk-clients.ts";

await walkClients("TypeScript");
await walkClients("Python", "python");
