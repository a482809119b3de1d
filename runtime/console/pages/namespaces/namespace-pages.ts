import type { Pages } from "../../page-table.ts";
import { NamespacesPage } from "./namespaces-page.tsx";

/** The page of namespaces. */
export const namespacePages: Pages = { list: NamespacesPage };
