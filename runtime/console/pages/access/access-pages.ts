import type { Pages } from "../../page-table.ts";
import { AccessPage } from "./access-page.tsx";
import { AuditPage } from "./audit-page.tsx";

/** Who may do what, and who did what. */
export const accessPages: Pages = { access: AccessPage, audit: AuditPage };
