import type { Pages } from "../../page-table.ts";
import { SystemPage } from "./system-page.tsx";

/** The page of the platform itself. */
export const systemPages: Pages = { system: SystemPage };
