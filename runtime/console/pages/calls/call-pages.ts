import type { Pages } from "../../page-table.ts";
import { CallsPage } from "./list/calls-page.tsx";
import { OneCallPage } from "./one/call-page.tsx";

/** The pages of calls. */
export const callPages: Pages = { list: CallsPage, call: OneCallPage };
