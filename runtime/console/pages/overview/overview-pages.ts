import type { Pages } from "../../page-table.ts";
import { OverviewPage } from "./overview-page.tsx";

/** The first page. */
export const overviewPages: Pages = { overview: OverviewPage };
