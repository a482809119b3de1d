import type { Pages } from "../../page-table.ts";
import { EditPage } from "./edit/edit-page.tsx";
import { NewFunctionPage } from "./edit/new-page.tsx";
import { LogsPage } from "./logs/logs-page.tsx";
import { ScalingPage } from "./scaling/scaling-page.tsx";
import { StatusPage } from "./status/status-page.tsx";
import { TryPage } from "./try/try-page.tsx";

/** The pages of one function. */
export const functionPages: Pages = {
  new: NewFunctionPage,
  status: StatusPage,
  edit: EditPage,
  try: TryPage,
  logs: LogsPage,
  scaling: ScalingPage,
};
