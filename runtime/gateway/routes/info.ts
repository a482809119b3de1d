import { SystemInfo } from "../../api/system-info.ts";
import type { RoutePlugin } from "../route-plugin.ts";

/** What this platform is (contract §3.6). */
export const infoRoutes: RoutePlugin = async (app, { info }) => {
  app.get("/system/info", { schema: { response: { 200: SystemInfo } } }, async () => info);
};
